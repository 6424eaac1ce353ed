!Z35184366911489_i64 = !mod_arith.int<35184366911489 : i64>
!Z35184367828993_i64 = !mod_arith.int<35184367828993 : i64>
!Z35184368025601_i64 = !mod_arith.int<35184368025601 : i64>
!Z35184368877569_i64 = !mod_arith.int<35184368877569 : i64>
!Z35184372744193_i64 = !mod_arith.int<35184372744193 : i64>
!Z35184373006337_i64 = !mod_arith.int<35184373006337 : i64>
!Z35184373989377_i64 = !mod_arith.int<35184373989377 : i64>
!Z35184376545281_i64 = !mod_arith.int<35184376545281 : i64>
!Z36028797017456641_i64 = !mod_arith.int<36028797017456641 : i64>
#inverse_canonical_encoding = #lwe.inverse_canonical_encoding<scaling_factor = 45>
#inverse_canonical_encoding1 = #lwe.inverse_canonical_encoding<scaling_factor = 90>
#key = #lwe.key<>
#layout = #tensor_ext.layout<"{ [i0] -> [ct, slot] : ct = 0 and (-i0 + slot) mod 64 = 0 and 0 <= i0 <= 63 and 0 <= slot <= 63 }">
#layout1 = #tensor_ext.layout<"{ [i0] -> [ct, slot] : ct = 0 and (-i0 + slot) mod 16 = 0 and 0 <= i0 <= 9 and 0 <= slot <= 63 }">
#modulus_chain_L8_C0 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184366911489 : i64, 35184376545281 : i64, 35184367828993 : i64, 35184373989377 : i64, 35184368025601 : i64, 35184373006337 : i64, 35184368877569 : i64, 35184372744193 : i64>, current = 0>
#modulus_chain_L8_C1 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184366911489 : i64, 35184376545281 : i64, 35184367828993 : i64, 35184373989377 : i64, 35184368025601 : i64, 35184373006337 : i64, 35184368877569 : i64, 35184372744193 : i64>, current = 1>
#modulus_chain_L8_C2 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184366911489 : i64, 35184376545281 : i64, 35184367828993 : i64, 35184373989377 : i64, 35184368025601 : i64, 35184373006337 : i64, 35184368877569 : i64, 35184372744193 : i64>, current = 2>
#modulus_chain_L8_C5 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184366911489 : i64, 35184376545281 : i64, 35184367828993 : i64, 35184373989377 : i64, 35184368025601 : i64, 35184373006337 : i64, 35184368877569 : i64, 35184372744193 : i64>, current = 5>
#modulus_chain_L8_C6 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184366911489 : i64, 35184376545281 : i64, 35184367828993 : i64, 35184373989377 : i64, 35184368025601 : i64, 35184373006337 : i64, 35184368877569 : i64, 35184372744193 : i64>, current = 6>
#modulus_chain_L8_C7 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184366911489 : i64, 35184376545281 : i64, 35184367828993 : i64, 35184373989377 : i64, 35184368025601 : i64, 35184373006337 : i64, 35184368877569 : i64, 35184372744193 : i64>, current = 7>
#modulus_chain_L8_C8 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184366911489 : i64, 35184376545281 : i64, 35184367828993 : i64, 35184373989377 : i64, 35184368025601 : i64, 35184373006337 : i64, 35184368877569 : i64, 35184372744193 : i64>, current = 8>
#ring_f64_1_x32768 = #polynomial.ring<coefficientType = f64, polynomialModulus = <1 + x**32768>>
!rns_L0 = !rns.rns<!Z36028797017456641_i64>
!rns_L1 = !rns.rns<!Z36028797017456641_i64, !Z35184366911489_i64>
!rns_L2 = !rns.rns<!Z36028797017456641_i64, !Z35184366911489_i64, !Z35184376545281_i64>
!rns_L5 = !rns.rns<!Z36028797017456641_i64, !Z35184366911489_i64, !Z35184376545281_i64, !Z35184367828993_i64, !Z35184373989377_i64, !Z35184368025601_i64>
!rns_L6 = !rns.rns<!Z36028797017456641_i64, !Z35184366911489_i64, !Z35184376545281_i64, !Z35184367828993_i64, !Z35184373989377_i64, !Z35184368025601_i64, !Z35184373006337_i64>
!rns_L7 = !rns.rns<!Z36028797017456641_i64, !Z35184366911489_i64, !Z35184376545281_i64, !Z35184367828993_i64, !Z35184373989377_i64, !Z35184368025601_i64, !Z35184373006337_i64, !Z35184368877569_i64>
!rns_L8 = !rns.rns<!Z36028797017456641_i64, !Z35184366911489_i64, !Z35184376545281_i64, !Z35184367828993_i64, !Z35184373989377_i64, !Z35184368025601_i64, !Z35184373006337_i64, !Z35184368877569_i64, !Z35184372744193_i64>
#original_type = #tensor_ext.original_type<originalType = tensor<64xf32>, layout = #layout>
#original_type1 = #tensor_ext.original_type<originalType = tensor<10xf32>, layout = #layout1>
!pt = !lwe.lwe_plaintext<plaintext_space = <ring = #ring_f64_1_x32768, encoding = #inverse_canonical_encoding>>
#ring_rns_L0_1_x32768 = #polynomial.ring<coefficientType = !rns_L0, polynomialModulus = <1 + x**32768>>
#ring_rns_L1_1_x32768 = #polynomial.ring<coefficientType = !rns_L1, polynomialModulus = <1 + x**32768>>
#ring_rns_L2_1_x32768 = #polynomial.ring<coefficientType = !rns_L2, polynomialModulus = <1 + x**32768>>
#ring_rns_L5_1_x32768 = #polynomial.ring<coefficientType = !rns_L5, polynomialModulus = <1 + x**32768>>
#ring_rns_L6_1_x32768 = #polynomial.ring<coefficientType = !rns_L6, polynomialModulus = <1 + x**32768>>
#ring_rns_L7_1_x32768 = #polynomial.ring<coefficientType = !rns_L7, polynomialModulus = <1 + x**32768>>
#ring_rns_L8_1_x32768 = #polynomial.ring<coefficientType = !rns_L8, polynomialModulus = <1 + x**32768>>
!pkey_L8 = !lwe.lwe_public_key<key = #key, ring = #ring_rns_L8_1_x32768>
!skey_L0 = !lwe.lwe_secret_key<key = #key, ring = #ring_rns_L0_1_x32768>
#ciphertext_space_L0 = #lwe.ciphertext_space<ring = #ring_rns_L0_1_x32768, encryption_type = mix>
#ciphertext_space_L1 = #lwe.ciphertext_space<ring = #ring_rns_L1_1_x32768, encryption_type = mix>
#ciphertext_space_L2 = #lwe.ciphertext_space<ring = #ring_rns_L2_1_x32768, encryption_type = mix>
#ciphertext_space_L5 = #lwe.ciphertext_space<ring = #ring_rns_L5_1_x32768, encryption_type = mix>
#ciphertext_space_L6 = #lwe.ciphertext_space<ring = #ring_rns_L6_1_x32768, encryption_type = mix>
#ciphertext_space_L7 = #lwe.ciphertext_space<ring = #ring_rns_L7_1_x32768, encryption_type = mix>
#ciphertext_space_L8 = #lwe.ciphertext_space<ring = #ring_rns_L8_1_x32768, encryption_type = mix>
!ct_L0 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x32768, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L0, key = #key, modulus_chain = #modulus_chain_L8_C0>
!ct_L1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x32768, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L1, key = #key, modulus_chain = #modulus_chain_L8_C1>
!ct_L1_1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x32768, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L1, key = #key, modulus_chain = #modulus_chain_L8_C1>
!ct_L2 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x32768, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L2, key = #key, modulus_chain = #modulus_chain_L8_C2>
!ct_L5 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x32768, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L5, key = #key, modulus_chain = #modulus_chain_L8_C5>
!ct_L6 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x32768, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L6, key = #key, modulus_chain = #modulus_chain_L8_C6>
!ct_L6_1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x32768, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L6, key = #key, modulus_chain = #modulus_chain_L8_C6>
!ct_L7 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x32768, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L7, key = #key, modulus_chain = #modulus_chain_L8_C7>
!ct_L7_1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x32768, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L7, key = #key, modulus_chain = #modulus_chain_L8_C7>
!ct_L8 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x32768, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L8, key = #key, modulus_chain = #modulus_chain_L8_C8>
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<10xf32>) -> tensor<1x64xf32>, sym_name = "_assign_layout_0", sym_visibility = "private"}> ({
  ^bb0(%arg44: tensor<10xf32>):
    %157 = "arith.constant"() <{value = 64 : i32}> : () -> i32
    %158 = "arith.constant"() <{value = 0 : index}> : () -> index
    %159 = "arith.constant"() <{value = 16 : i32}> : () -> i32
    %160 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<1x64xf32>}> : () -> tensor<1x64xf32>
    %161 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %162 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %163 = "arith.constant"() <{value = 10 : i32}> : () -> i32
    %164 = "scf.for"(%161, %163, %162, %160) ({
    ^bb0(%arg45: i32, %arg46: tensor<1x64xf32>):
      %165 = "scf.for"(%arg45, %157, %159, %arg46) ({
      ^bb0(%arg47: i32, %arg48: tensor<1x64xf32>):
        %166 = "arith.index_cast"(%arg45) : (i32) -> index
        %167 = "tensor.extract"(%arg44, %166) : (tensor<10xf32>, index) -> f32
        %168 = "arith.index_cast"(%arg47) : (i32) -> index
        %169 = "tensor.insert"(%167, %arg48, %158, %168) : (f32, tensor<1x64xf32>, index, index) -> tensor<1x64xf32>
        "scf.yield"(%169) : (tensor<1x64xf32>) -> ()
      }) : (i32, i32, i32, tensor<1x64xf32>) -> tensor<1x64xf32>
      "scf.yield"(%165) : (tensor<1x64xf32>) -> ()
    }) : (i32, i32, i32, tensor<1x64xf32>) -> tensor<1x64xf32>
    "func.return"(%164) : (tensor<1x64xf32>) -> ()
  }) {heir.interface = {func_name = "mlp", roles = ["client.pack"]}} : () -> ()
  "func.func"() <{function_type = (tensor<10x16xf32>) -> tensor<16x64xf32>, sym_name = "_assign_layout_1", sym_visibility = "private"}> ({
  ^bb0(%arg37: tensor<10x16xf32>):
    %136 = "arith.constant"() <{value = 64 : i32}> : () -> i32
    %137 = "arith.constant"() <{value = 16 : i32}> : () -> i32
    %138 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<16x64xf32>}> : () -> tensor<16x64xf32>
    %139 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %140 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %141 = "arith.constant"() <{value = 10 : i32}> : () -> i32
    %142 = "scf.for"(%139, %141, %140, %138) ({
    ^bb0(%arg38: i32, %arg39: tensor<16x64xf32>):
      %143 = "scf.for"(%139, %137, %140, %arg39) ({
      ^bb0(%arg40: i32, %arg41: tensor<16x64xf32>):
        %144 = "scf.for"(%arg38, %136, %137, %arg41) ({
        ^bb0(%arg42: i32, %arg43: tensor<16x64xf32>):
          %145 = "arith.subi"(%139, %arg38) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
          %146 = "arith.addi"(%145, %arg40) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
          %147 = "arith.addi"(%146, %137) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
          %148 = "arith.floordivsi"(%147, %137) : (i32, i32) -> i32
          %149 = "arith.muli"(%148, %137) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
          %150 = "arith.subi"(%147, %149) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
          %151 = "arith.index_cast"(%arg38) : (i32) -> index
          %152 = "arith.index_cast"(%arg40) : (i32) -> index
          %153 = "tensor.extract"(%arg37, %151, %152) : (tensor<10x16xf32>, index, index) -> f32
          %154 = "arith.index_cast"(%150) : (i32) -> index
          %155 = "arith.index_cast"(%arg42) : (i32) -> index
          %156 = "tensor.insert"(%153, %arg43, %154, %155) : (f32, tensor<16x64xf32>, index, index) -> tensor<16x64xf32>
          "scf.yield"(%156) : (tensor<16x64xf32>) -> ()
        }) : (i32, i32, i32, tensor<16x64xf32>) -> tensor<16x64xf32>
        "scf.yield"(%144) : (tensor<16x64xf32>) -> ()
      }) : (i32, i32, i32, tensor<16x64xf32>) -> tensor<16x64xf32>
      "scf.yield"(%143) : (tensor<16x64xf32>) -> ()
    }) : (i32, i32, i32, tensor<16x64xf32>) -> tensor<16x64xf32>
    "func.return"(%142) : (tensor<16x64xf32>) -> ()
  }) {heir.interface = {func_name = "mlp", roles = ["client.pack"]}} : () -> ()
  "func.func"() <{function_type = (tensor<16xf32>) -> tensor<1x64xf32>, sym_name = "_assign_layout_2", sym_visibility = "private"}> ({
  ^bb0(%arg32: tensor<16xf32>):
    %124 = "arith.constant"() <{value = 64 : i32}> : () -> i32
    %125 = "arith.constant"() <{value = 0 : index}> : () -> index
    %126 = "arith.constant"() <{value = 16 : i32}> : () -> i32
    %127 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<1x64xf32>}> : () -> tensor<1x64xf32>
    %128 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %129 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %130 = "scf.for"(%128, %126, %129, %127) ({
    ^bb0(%arg33: i32, %arg34: tensor<1x64xf32>):
      %131 = "scf.for"(%arg33, %124, %126, %arg34) ({
      ^bb0(%arg35: i32, %arg36: tensor<1x64xf32>):
        %132 = "arith.index_cast"(%arg33) : (i32) -> index
        %133 = "tensor.extract"(%arg32, %132) : (tensor<16xf32>, index) -> f32
        %134 = "arith.index_cast"(%arg35) : (i32) -> index
        %135 = "tensor.insert"(%133, %arg36, %125, %134) : (f32, tensor<1x64xf32>, index, index) -> tensor<1x64xf32>
        "scf.yield"(%135) : (tensor<1x64xf32>) -> ()
      }) : (i32, i32, i32, tensor<1x64xf32>) -> tensor<1x64xf32>
      "scf.yield"(%131) : (tensor<1x64xf32>) -> ()
    }) : (i32, i32, i32, tensor<1x64xf32>) -> tensor<1x64xf32>
    "func.return"(%130) : (tensor<1x64xf32>) -> ()
  }) {heir.interface = {func_name = "mlp", roles = ["client.pack"]}} : () -> ()
  "func.func"() <{function_type = (tensor<16x64xf32>) -> tensor<16x64xf32>, sym_name = "_assign_layout_3", sym_visibility = "private"}> ({
  ^bb0(%arg25: tensor<16x64xf32>):
    %92 = "arith.constant"() <{value = 64 : i32}> : () -> i32
    %93 = "arith.constant"() <{value = 16 : i32}> : () -> i32
    %94 = "arith.constant"() <{value = 63 : i32}> : () -> i32
    %95 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<16x64xf32>}> : () -> tensor<16x64xf32>
    %96 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %97 = "arith.constant"() <{value = 15 : i32}> : () -> i32
    %98 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %99 = "scf.for"(%96, %93, %98, %95) ({
    ^bb0(%arg26: i32, %arg27: tensor<16x64xf32>):
      %100 = "scf.for"(%96, %92, %98, %arg27) ({
      ^bb0(%arg28: i32, %arg29: tensor<16x64xf32>):
        %101 = "scf.for"(%arg26, %92, %93, %arg29) ({
        ^bb0(%arg30: i32, %arg31: tensor<16x64xf32>):
          %102 = "arith.subi"(%arg26, %arg28) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
          %103 = "arith.addi"(%102, %94) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
          %104 = "arith.floordivsi"(%103, %93) : (i32, i32) -> i32
          %105 = "arith.muli"(%104, %93) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
          %106 = "arith.subi"(%103, %105) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
          %107 = "arith.addi"(%106, %arg28) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
          %108 = "arith.subi"(%107, %arg30) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
          %109 = "arith.subi"(%108, %97) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
          %110 = "arith.remsi"(%109, %92) : (i32, i32) -> i32
          %111 = "arith.cmpi"(%110, %96) <{predicate = 0 : i64}> : (i32, i32) -> i1
          %112 = "scf.if"(%111) ({
            %113 = "arith.subi"(%arg28, %arg30) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
            %114 = "arith.addi"(%113, %92) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
            %115 = "arith.floordivsi"(%114, %92) : (i32, i32) -> i32
            %116 = "arith.muli"(%115, %92) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
            %117 = "arith.subi"(%114, %116) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
            %118 = "arith.index_cast"(%arg26) : (i32) -> index
            %119 = "arith.index_cast"(%arg28) : (i32) -> index
            %120 = "tensor.extract"(%arg25, %118, %119) : (tensor<16x64xf32>, index, index) -> f32
            %121 = "arith.index_cast"(%117) : (i32) -> index
            %122 = "arith.index_cast"(%arg30) : (i32) -> index
            %123 = "tensor.insert"(%120, %arg31, %121, %122) : (f32, tensor<16x64xf32>, index, index) -> tensor<16x64xf32>
            "scf.yield"(%123) : (tensor<16x64xf32>) -> ()
          }, {
            "scf.yield"(%arg31) : (tensor<16x64xf32>) -> ()
          }) : (i1) -> tensor<16x64xf32>
          "scf.yield"(%112) : (tensor<16x64xf32>) -> ()
        }) : (i32, i32, i32, tensor<16x64xf32>) -> tensor<16x64xf32>
        "scf.yield"(%101) : (tensor<16x64xf32>) -> ()
      }) : (i32, i32, i32, tensor<16x64xf32>) -> tensor<16x64xf32>
      "scf.yield"(%100) : (tensor<16x64xf32>) -> ()
    }) : (i32, i32, i32, tensor<16x64xf32>) -> tensor<16x64xf32>
    "func.return"(%99) : (tensor<16x64xf32>) -> ()
  }) {heir.interface = {func_name = "mlp", roles = ["client.pack"]}} : () -> ()
  "func.func"() <{function_type = (tensor<10xf32>, tensor<10x16xf32>, tensor<16xf32>, tensor<16x64xf32>) -> !preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>, sym_name = "mlp__preprocessing"}> ({
  ^bb0(%arg21: tensor<10xf32>, %arg22: tensor<10x16xf32>, %arg23: tensor<16xf32>, %arg24: tensor<16x64xf32>):
    %74 = "arith.constant"() <{value = dense<1.000000e+00> : tensor<64xf32>}> : () -> tensor<64xf32>
    %75 = "arith.constant"() <{value = dense<2.500000e-01> : tensor<16xf32>}> : () -> tensor<16xf32>
    %76 = "preprocessing.empty"() : () -> !preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>
    %77 = "func.call"(%arg24) <{callee = @_assign_layout_3}> : (tensor<16x64xf32>) -> tensor<16x64xf32>
    %78 = "func.call"(%arg23) <{callee = @_assign_layout_2}> : (tensor<16xf32>) -> tensor<1x64xf32>
    %79 = "func.call"(%75) <{callee = @_assign_layout_2}> : (tensor<16xf32>) -> tensor<1x64xf32>
    %80 = "func.call"(%arg22) <{callee = @_assign_layout_1}> : (tensor<10x16xf32>) -> tensor<16x64xf32>
    %81 = "func.call"(%arg21) <{callee = @_assign_layout_0}> : (tensor<10xf32>) -> tensor<1x64xf32>
    %82 = "kernel.prepare_linear_transform"(%77) <{diagonal_indices = array<i64: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>}> : (tensor<16x64xf32>) -> !kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>
    "preprocessing.store"(%82, %76) <{element_type = !kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, site_id = 0 : i32}> : (!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>) -> ()
    %83 = "tensor.extract_slice"(%78) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 64>, static_strides = array<i64: 1, 1>}> : (tensor<1x64xf32>) -> tensor<64xf32>
    %84 = "lwe.rlwe_encode"(%83) <{encoding = #inverse_canonical_encoding, level = 7 : i64, ring = #ring_f64_1_x32768, scale = 45 : i64}> : (tensor<64xf32>) -> !pt
    "preprocessing.store"(%84, %76) <{element_type = !pt, site_id = 1 : i32}> : (!pt, !preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>) -> ()
    %85 = "lwe.rlwe_encode"(%74) <{encoding = #inverse_canonical_encoding, level = 7 : i64, ring = #ring_f64_1_x32768, scale = 45 : i64}> : (tensor<64xf32>) -> !pt
    "preprocessing.store"(%85, %76) <{element_type = !pt, site_id = 2 : i32}> : (!pt, !preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>) -> ()
    %86 = "tensor.extract_slice"(%79) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 64>, static_strides = array<i64: 1, 1>}> : (tensor<1x64xf32>) -> tensor<64xf32>
    %87 = "lwe.rlwe_encode"(%86) <{encoding = #inverse_canonical_encoding, level = 6 : i64, ring = #ring_f64_1_x32768, scale = 45 : i64}> : (tensor<64xf32>) -> !pt
    "preprocessing.store"(%87, %76) <{element_type = !pt, site_id = 3 : i32}> : (!pt, !preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>) -> ()
    %88 = "kernel.prepare_linear_transform"(%80) <{diagonal_indices = array<i64: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>}> : (tensor<16x64xf32>) -> !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>
    "preprocessing.store"(%88, %76) <{element_type = !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>, site_id = 4 : i32}> : (!kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>, !preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>) -> ()
    %89 = "tensor.extract_slice"(%81) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 64>, static_strides = array<i64: 1, 1>}> : (tensor<1x64xf32>) -> tensor<64xf32>
    %90 = "lwe.rlwe_encode"(%89) <{encoding = #inverse_canonical_encoding, level = 1 : i64, ring = #ring_f64_1_x32768, scale = 45 : i64}> : (tensor<64xf32>) -> !pt
    "preprocessing.store"(%90, %76) <{element_type = !pt, site_id = 5 : i32}> : (!pt, !preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>) -> ()
    %91 = "lwe.rlwe_encode"(%74) <{encoding = #inverse_canonical_encoding, level = 1 : i64, ring = #ring_f64_1_x32768, scale = 45 : i64}> : (tensor<64xf32>) -> !pt
    "preprocessing.store"(%91, %76) <{element_type = !pt, site_id = 6 : i32}> : (!pt, !preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>) -> ()
    "func.return"(%76) : (!preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>) -> ()
  }) {heir.interface = {entry_arg_indices = array<i64: 4, 3, 2, 1>, func_name = "mlp", roles = ["server.preprocessing"]}} : () -> ()
  "func.func"() <{arg_attrs = [{heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 64>}, tensor_ext.original_type = #original_type}, {}, {}, {}, {}, {}], function_type = (tensor<1x!ct_L8>, tensor<16x64xf32>, tensor<16xf32>, tensor<10x16xf32>, tensor<10xf32>, !preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>) -> tensor<1x!ct_L0>, sym_name = "mlp__preprocessed"}> ({
  ^bb0(%arg15: tensor<1x!ct_L8>, %arg16: tensor<16x64xf32>, %arg17: tensor<16xf32>, %arg18: tensor<10x16xf32>, %arg19: tensor<10xf32>, %arg20: !preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>):
    %40 = "arith.constant"() <{value = 16 : index}> : () -> index
    %41 = "arith.constant"() <{value = 32 : index}> : () -> index
    %42 = "arith.constant"() <{value = dense<2.500000e-01> : tensor<16xf32>}> : () -> tensor<16xf32>
    %43 = "arith.constant"() <{value = 0 : index}> : () -> index
    %44 = "func.call"(%arg16) <{callee = @_assign_layout_3}> : (tensor<16x64xf32>) -> tensor<16x64xf32>
    %45 = "func.call"(%arg17) <{callee = @_assign_layout_2}> : (tensor<16xf32>) -> tensor<1x64xf32>
    %46 = "func.call"(%42) <{callee = @_assign_layout_2}> : (tensor<16xf32>) -> tensor<1x64xf32>
    %47 = "func.call"(%arg18) <{callee = @_assign_layout_1}> : (tensor<10x16xf32>) -> tensor<16x64xf32>
    %48 = "func.call"(%arg19) <{callee = @_assign_layout_0}> : (tensor<10xf32>) -> tensor<1x64xf32>
    %49 = "preprocessing.load"(%arg20) <{element_type = !kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, site_id = 0 : i32}> : (!preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>) -> !kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>
    %50 = "tensor.extract"(%arg15, %43) : (tensor<1x!ct_L8>, index) -> !ct_L8
    %51 = "kernel.apply_linear_transform"(%50, %49) <{diagonal_indices = array<i64: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>, diagonal_width = 64 : i64}> : (!ct_L8, !kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>) -> !ct_L7
    %52 = "ckks.rotate"(%51, %41) : (!ct_L7, index) -> !ct_L7
    %53 = "ckks.add"(%51, %52) : (!ct_L7, !ct_L7) -> !ct_L7
    %54 = "ckks.rotate"(%53, %40) : (!ct_L7, index) -> !ct_L7
    %55 = "preprocessing.load"(%arg20) <{element_type = !pt, site_id = 1 : i32}> : (!preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>) -> !pt
    %56 = "ckks.add_plain"(%53, %55) : (!ct_L7, !pt) -> !ct_L7
    %57 = "ckks.add"(%56, %54) : (!ct_L7, !ct_L7) -> !ct_L7
    %58 = "preprocessing.load"(%arg20) <{element_type = !pt, site_id = 2 : i32}> : (!preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>) -> !pt
    %59 = "ckks.mul_plain"(%57, %58) : (!ct_L7, !pt) -> !ct_L7_1
    %60 = "ckks.rescale"(%59) <{to_ring = #ring_rns_L6_1_x32768}> : (!ct_L7_1) -> !ct_L6
    %61 = "preprocessing.load"(%arg20) <{element_type = !pt, site_id = 3 : i32}> : (!preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>) -> !pt
    %62 = "ckks.mul_plain"(%60, %61) {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 64>}} : (!ct_L6, !pt) -> !ct_L6_1
    %63 = "ckks.rescale"(%62) <{to_ring = #ring_rns_L5_1_x32768}> : (!ct_L6_1) -> !ct_L5
    %64 = "kernel.eval_chebyshev"(%63) <{coefficients = [1.26787982056319, 2.000000e+00, 0.86150107335043335, -1.4563069223823E-16, -0.25313872329356568, -3.4280088644310704E-17]}> {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 64>}} : (!ct_L5) -> !ct_L2
    %65 = "preprocessing.load"(%arg20) <{element_type = !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>, site_id = 4 : i32}> : (!preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>) -> !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>
    %66 = "kernel.apply_linear_transform"(%64, %65) <{diagonal_indices = array<i64: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>, diagonal_width = 64 : i64}> : (!ct_L2, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>) -> !ct_L1
    %67 = "preprocessing.load"(%arg20) <{element_type = !pt, site_id = 5 : i32}> : (!preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>) -> !pt
    %68 = "ckks.add_plain"(%66, %67) : (!ct_L1, !pt) -> !ct_L1
    %69 = "preprocessing.load"(%arg20) <{element_type = !pt, site_id = 6 : i32}> : (!preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>) -> !pt
    %70 = "ckks.mul_plain"(%68, %69) : (!ct_L1, !pt) -> !ct_L1_1
    %71 = "tensor.empty"() : () -> tensor<1x!ct_L0>
    %72 = "ckks.rescale"(%70) <{to_ring = #ring_rns_L0_1_x32768}> : (!ct_L1_1) -> !ct_L0
    %73 = "tensor.insert"(%72, %71, %43) : (!ct_L0, tensor<1x!ct_L0>, index) -> tensor<1x!ct_L0>
    "func.return"(%73) : (tensor<1x!ct_L0>) -> ()
  }) {heir.interface = {func_name = "mlp", roles = ["client.preprocessed", "server.evaluate"]}} : () -> ()
  "func.func"() <{arg_attrs = [{heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 64>}, tensor_ext.original_type = #original_type}, {}, {}, {}, {}], function_type = (tensor<1x!ct_L8>, tensor<16x64xf32>, tensor<16xf32>, tensor<10x16xf32>, tensor<10xf32>) -> tensor<1x!ct_L0>, res_attrs = [{tensor_ext.original_type = #original_type1}], sym_name = "mlp"}> ({
  ^bb0(%arg10: tensor<1x!ct_L8>, %arg11: tensor<16x64xf32>, %arg12: tensor<16xf32>, %arg13: tensor<10x16xf32>, %arg14: tensor<10xf32>):
    %38 = "func.call"(%arg14, %arg13, %arg12, %arg11) <{callee = @mlp__preprocessing}> : (tensor<10xf32>, tensor<10x16xf32>, tensor<16xf32>, tensor<16x64xf32>) -> !preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>
    %39 = "func.call"(%arg10, %arg11, %arg12, %arg13, %arg14, %38) <{callee = @mlp__preprocessed}> : (tensor<1x!ct_L8>, tensor<16x64xf32>, tensor<16xf32>, tensor<10x16xf32>, tensor<10xf32>, !preprocessing.storage<!kernel.prepared_linear_transform<level = 8, slots = 64, log_bsgs_ratio = 0>, !pt, !kernel.prepared_linear_transform<level = 2, slots = 64, log_bsgs_ratio = 0>>) -> tensor<1x!ct_L0>
    "func.return"(%39) : (tensor<1x!ct_L0>) -> ()
  }) {heir.interface = {func_name = "mlp", input_types = [tensor<64xf32>, tensor<16x64xf32>, tensor<16xf32>, tensor<10x16xf32>, tensor<10xf32>], result_types = [tensor<10xf32>], roles = ["entry"]}} : () -> ()
  "func.func"() <{function_type = (tensor<64xf32>, !pkey_L8) -> tensor<1x!ct_L8>, sym_name = "mlp__encrypt__arg0"}> ({
  ^bb0(%arg6: tensor<64xf32>, %arg7: !pkey_L8):
    %25 = "arith.constant"() <{value = 0 : index}> : () -> index
    %26 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<1x64xf32>}> : () -> tensor<1x64xf32>
    %27 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %28 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %29 = "arith.constant"() <{value = 64 : i32}> : () -> i32
    %30 = "scf.for"(%27, %29, %28, %26) ({
    ^bb0(%arg8: i32, %arg9: tensor<1x64xf32>):
      %35 = "arith.index_cast"(%arg8) : (i32) -> index
      %36 = "tensor.extract"(%arg6, %35) : (tensor<64xf32>, index) -> f32
      %37 = "tensor.insert"(%36, %arg9, %25, %35) : (f32, tensor<1x64xf32>, index, index) -> tensor<1x64xf32>
      "scf.yield"(%37) : (tensor<1x64xf32>) -> ()
    }) : (i32, i32, i32, tensor<1x64xf32>) -> tensor<1x64xf32>
    %31 = "tensor.extract_slice"(%30) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 64>, static_strides = array<i64: 1, 1>}> : (tensor<1x64xf32>) -> tensor<64xf32>
    %32 = "lwe.rlwe_encode"(%31) <{encoding = #inverse_canonical_encoding, level = 8 : i64, ring = #ring_f64_1_x32768, scale = 45 : i64}> : (tensor<64xf32>) -> !pt
    %33 = "lwe.rlwe_encrypt"(%32, %arg7) : (!pt, !pkey_L8) -> !ct_L8
    %34 = "tensor.from_elements"(%33) : (!ct_L8) -> tensor<1x!ct_L8>
    "func.return"(%34) : (tensor<1x!ct_L8>) -> ()
  }) {heir.interface = {func_name = "mlp", index = 0 : i64, roles = ["client.encrypt"]}} : () -> ()
  "func.func"() <{function_type = (tensor<1x!ct_L0>, !skey_L0) -> tensor<10xf32>, sym_name = "mlp__decrypt__result0"}> ({
  ^bb0(%arg0: tensor<1x!ct_L0>, %arg1: !skey_L0):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "arith.constant"() <{value = 64 : i32}> : () -> i32
    %2 = "arith.constant"() <{value = 10 : i32}> : () -> i32
    %3 = "arith.constant"() <{value = 16 : i32}> : () -> i32
    %4 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %5 = "arith.constant"() <{value = 9 : i32}> : () -> i32
    %6 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %7 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<10xf32>}> : () -> tensor<10xf32>
    %8 = "arith.constant"() <{value = 54 : i32}> : () -> i32
    %9 = "tensor.extract"(%arg0, %0) : (tensor<1x!ct_L0>, index) -> !ct_L0
    %10 = "lwe.rlwe_decrypt"(%9, %arg1) : (!ct_L0, !skey_L0) -> !pt
    %11 = "lwe.rlwe_decode"(%10) <{encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x32768}> : (!pt) -> tensor<1x64xf32>
    %12 = "scf.for"(%6, %2, %4, %7) ({
    ^bb0(%arg2: i32, %arg3: tensor<10xf32>):
      %13 = "arith.subi"(%5, %arg2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %14 = "scf.for"(%13, %1, %3, %arg3) ({
      ^bb0(%arg4: i32, %arg5: tensor<10xf32>):
        %15 = "arith.addi"(%arg2, %8) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
        %16 = "arith.floordivsi"(%15, %3) : (i32, i32) -> i32
        %17 = "arith.muli"(%16, %3) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
        %18 = "arith.addi"(%13, %17) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
        %19 = "arith.subi"(%arg4, %13) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
        %20 = "arith.subi"(%18, %19) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
        %21 = "arith.index_cast"(%20) : (i32) -> index
        %22 = "tensor.extract"(%11, %0, %21) : (tensor<1x64xf32>, index, index) -> f32
        %23 = "arith.index_cast"(%13) : (i32) -> index
        %24 = "tensor.insert"(%22, %arg5, %23) : (f32, tensor<10xf32>, index) -> tensor<10xf32>
        "scf.yield"(%24) : (tensor<10xf32>) -> ()
      }) : (i32, i32, i32, tensor<10xf32>) -> tensor<10xf32>
      "scf.yield"(%14) : (tensor<10xf32>) -> ()
    }) : (i32, i32, i32, tensor<10xf32>) -> tensor<10xf32>
    "func.return"(%12) : (tensor<10xf32>) -> ()
  }) {heir.interface = {func_name = "mlp", index = 0 : i64, roles = ["client.decrypt"]}} : () -> ()
}) {backend.lattigo, ckks.schemeParam = #ckks.scheme_param<logN = 15, Q = [36028797017456641, 35184366911489, 35184376545281, 35184367828993, 35184373989377, 35184368025601, 35184373006337, 35184368877569, 35184372744193], P = [1152921504608747521, 1152921504614055937, 1152921504615628801], logDefaultScale = 45, encryptionTechnique = extended>, scheme.actual_slot_count = 16384 : i64, scheme.ckks, scheme.requested_slot_count = 64 : i64} : () -> ()

