!Z35184372121601_i64 = !mod_arith.int<35184372121601 : i64>
!Z36028797018652673_i64 = !mod_arith.int<36028797018652673 : i64>
#inverse_canonical_encoding = #lwe.inverse_canonical_encoding<scaling_factor = 45>
#inverse_canonical_encoding1 = #lwe.inverse_canonical_encoding<scaling_factor = 90>
#key = #lwe.key<>
#layout = #tensor_ext.layout<"{ [i0] -> [ct, slot] : ct = 0 and (-i0 + slot) mod 1024 = 0 and 0 <= i0 <= 783 and 0 <= slot <= 1023 }">
#layout1 = #tensor_ext.layout<"{ [i0] -> [ct, slot] : ct = 0 and (-i0 + slot) mod 512 = 0 and 0 <= i0 <= 511 and 0 <= slot <= 1023 }">
#modulus_chain_L1_C0 = #lwe.modulus_chain<elements = <36028797018652673 : i64, 35184372121601 : i64>, current = 0>
#modulus_chain_L1_C1 = #lwe.modulus_chain<elements = <36028797018652673 : i64, 35184372121601 : i64>, current = 1>
#ring_f64_1_x8192 = #polynomial.ring<coefficientType = f64, polynomialModulus = <1 + x**8192>>
!rns_L0 = !rns.rns<!Z36028797018652673_i64>
!rns_L1 = !rns.rns<!Z36028797018652673_i64, !Z35184372121601_i64>
#original_type = #tensor_ext.original_type<originalType = tensor<784xf32>, layout = #layout>
#original_type1 = #tensor_ext.original_type<originalType = tensor<512xf32>, layout = #layout1>
!pt = !lwe.lwe_plaintext<plaintext_space = <ring = #ring_f64_1_x8192, encoding = #inverse_canonical_encoding>>
!pt1 = !lwe.lwe_plaintext<plaintext_space = <ring = #ring_f64_1_x8192, encoding = #inverse_canonical_encoding1>>
#ring_rns_L0_1_x8192 = #polynomial.ring<coefficientType = !rns_L0, polynomialModulus = <1 + x**8192>>
#ring_rns_L1_1_x8192 = #polynomial.ring<coefficientType = !rns_L1, polynomialModulus = <1 + x**8192>>
!pkey_L1 = !lwe.lwe_public_key<key = #key, ring = #ring_rns_L1_1_x8192>
!skey_L0 = !lwe.lwe_secret_key<key = #key, ring = #ring_rns_L0_1_x8192>
#ciphertext_space_L0 = #lwe.ciphertext_space<ring = #ring_rns_L0_1_x8192, encryption_type = mix>
#ciphertext_space_L1 = #lwe.ciphertext_space<ring = #ring_rns_L1_1_x8192, encryption_type = mix>
!ct_L0 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x8192, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L0, key = #key, modulus_chain = #modulus_chain_L1_C0>
!ct_L1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x8192, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L1, key = #key, modulus_chain = #modulus_chain_L1_C1>
!ct_L1_1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x8192, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L1, key = #key, modulus_chain = #modulus_chain_L1_C1>
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<512xf32>) -> tensor<1x1024xf32>, sym_name = "_assign_layout_0", sym_visibility = "private"}> ({
  ^bb0(%arg40: tensor<512xf32>):
    %188 = "arith.constant"() <{value = 1024 : i32}> : () -> i32
    %189 = "arith.constant"() <{value = 0 : index}> : () -> index
    %190 = "arith.constant"() <{value = 512 : i32}> : () -> i32
    %191 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<1x1024xf32>}> : () -> tensor<1x1024xf32>
    %192 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %193 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %194 = "scf.for"(%192, %190, %193, %191) ({
    ^bb0(%arg41: i32, %arg42: tensor<1x1024xf32>):
      %195 = "scf.for"(%arg41, %188, %190, %arg42) ({
      ^bb0(%arg43: i32, %arg44: tensor<1x1024xf32>):
        %196 = "arith.index_cast"(%arg41) : (i32) -> index
        %197 = "tensor.extract"(%arg40, %196) : (tensor<512xf32>, index) -> f32
        %198 = "arith.index_cast"(%arg43) : (i32) -> index
        %199 = "tensor.insert"(%197, %arg44, %189, %198) : (f32, tensor<1x1024xf32>, index, index) -> tensor<1x1024xf32>
        "scf.yield"(%199) : (tensor<1x1024xf32>) -> ()
      }) : (i32, i32, i32, tensor<1x1024xf32>) -> tensor<1x1024xf32>
      "scf.yield"(%195) : (tensor<1x1024xf32>) -> ()
    }) : (i32, i32, i32, tensor<1x1024xf32>) -> tensor<1x1024xf32>
    "func.return"(%194) : (tensor<1x1024xf32>) -> ()
  }) {heir.interface = {func_name = "mnist", roles = ["client.pack"]}} : () -> ()
  "func.func"() <{function_type = (tensor<512x784xf32>) -> tensor<512x1024xf32>, sym_name = "_assign_layout_1", sym_visibility = "private"}> ({
  ^bb0(%arg33: tensor<512x784xf32>):
    %155 = "arith.constant"() <{value = 784 : i32}> : () -> i32
    %156 = "arith.constant"() <{value = 1024 : i32}> : () -> i32
    %157 = "arith.constant"() <{value = 512 : i32}> : () -> i32
    %158 = "arith.constant"() <{value = 1023 : i32}> : () -> i32
    %159 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<512x1024xf32>}> : () -> tensor<512x1024xf32>
    %160 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %161 = "arith.constant"() <{value = 511 : i32}> : () -> i32
    %162 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %163 = "scf.for"(%160, %157, %162, %159) ({
    ^bb0(%arg34: i32, %arg35: tensor<512x1024xf32>):
      %164 = "scf.for"(%160, %155, %162, %arg35) ({
      ^bb0(%arg36: i32, %arg37: tensor<512x1024xf32>):
        %165 = "scf.for"(%arg34, %156, %157, %arg37) ({
        ^bb0(%arg38: i32, %arg39: tensor<512x1024xf32>):
          %166 = "arith.subi"(%arg34, %arg36) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
          %167 = "arith.addi"(%166, %158) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
          %168 = "arith.floordivsi"(%167, %157) : (i32, i32) -> i32
          %169 = "arith.muli"(%168, %157) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
          %170 = "arith.subi"(%167, %169) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
          %171 = "arith.addi"(%170, %arg36) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
          %172 = "arith.subi"(%171, %arg38) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
          %173 = "arith.subi"(%172, %161) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
          %174 = "arith.remsi"(%173, %156) : (i32, i32) -> i32
          %175 = "arith.cmpi"(%174, %160) <{predicate = 0 : i64}> : (i32, i32) -> i1
          %176 = "scf.if"(%175) ({
            %177 = "arith.subi"(%arg36, %arg38) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
            %178 = "arith.addi"(%177, %156) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
            %179 = "arith.floordivsi"(%178, %156) : (i32, i32) -> i32
            %180 = "arith.muli"(%179, %156) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
            %181 = "arith.subi"(%178, %180) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
            %182 = "arith.index_cast"(%arg34) : (i32) -> index
            %183 = "arith.index_cast"(%arg36) : (i32) -> index
            %184 = "tensor.extract"(%arg33, %182, %183) : (tensor<512x784xf32>, index, index) -> f32
            %185 = "arith.index_cast"(%181) : (i32) -> index
            %186 = "arith.index_cast"(%arg38) : (i32) -> index
            %187 = "tensor.insert"(%184, %arg39, %185, %186) : (f32, tensor<512x1024xf32>, index, index) -> tensor<512x1024xf32>
            "scf.yield"(%187) : (tensor<512x1024xf32>) -> ()
          }, {
            "scf.yield"(%arg39) : (tensor<512x1024xf32>) -> ()
          }) : (i1) -> tensor<512x1024xf32>
          "scf.yield"(%176) : (tensor<512x1024xf32>) -> ()
        }) : (i32, i32, i32, tensor<512x1024xf32>) -> tensor<512x1024xf32>
        "scf.yield"(%165) : (tensor<512x1024xf32>) -> ()
      }) : (i32, i32, i32, tensor<512x1024xf32>) -> tensor<512x1024xf32>
      "scf.yield"(%164) : (tensor<512x1024xf32>) -> ()
    }) : (i32, i32, i32, tensor<512x1024xf32>) -> tensor<512x1024xf32>
    "func.return"(%163) : (tensor<512x1024xf32>) -> ()
  }) {heir.interface = {func_name = "mnist", roles = ["client.pack"]}} : () -> ()
  "func.func"() <{function_type = (tensor<512xf32>, tensor<512x784xf32>) -> !preprocessing.storage<!pt, !pt1>, sym_name = "mnist__preprocessing"}> ({
  ^bb0(%arg28: tensor<512xf32>, %arg29: tensor<512x784xf32>):
    %110 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<1024xf32>}> : () -> tensor<1024xf32>
    %111 = "arith.constant"() <{value = 23 : index}> : () -> index
    %112 = "arith.constant"() <{value = 1 : index}> : () -> index
    %113 = "arith.constant"() <{value = 512 : index}> : () -> index
    %114 = "arith.constant"() <{value = -23 : index}> : () -> index
    %115 = "arith.constant"() <{value = 1024 : index}> : () -> index
    %116 = "preprocessing.empty"() : () -> !preprocessing.storage<!pt, !pt1>
    %117 = "func.call"(%arg29) <{callee = @_assign_layout_1}> : (tensor<512x784xf32>) -> tensor<512x1024xf32>
    %118 = "func.call"(%arg28) <{callee = @_assign_layout_0}> : (tensor<512xf32>) -> tensor<1x1024xf32>
    %119 = "tensor.extract_slice"(%117) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 1024>, static_strides = array<i64: 1, 1>}> : (tensor<512x1024xf32>) -> tensor<1024xf32>
    %120 = "lwe.rlwe_encode"(%119) <{encoding = #inverse_canonical_encoding, level = 1 : i64, ring = #ring_f64_1_x8192, scale = 45 : i64}> : (tensor<1024xf32>) -> !pt
    "preprocessing.store"(%120, %116) <{element_type = !pt, site_id = 0 : i32}> : (!pt, !preprocessing.storage<!pt, !pt1>) -> ()
    %121 = "lwe.rlwe_encode"(%110) <{encoding = #inverse_canonical_encoding1, level = 1 : i64, ring = #ring_f64_1_x8192, scale = 90 : i64}> : (tensor<1024xf32>) -> !pt1
    "preprocessing.store"(%121, %116) <{element_type = !pt1, site_id = 1 : i32}> : (!pt1, !preprocessing.storage<!pt, !pt1>) -> ()
    "scf.for"(%112, %111, %112) ({
    ^bb0(%arg32: index):
      %152 = "arith.cmpi"(%arg32, %113) <{predicate = 2 : i64}> : (index, index) -> i1
      "scf.if"(%152) ({
        %153 = "tensor.extract_slice"(%117, %arg32) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808, 0>, static_sizes = array<i64: 1, 1024>, static_strides = array<i64: 1, 1>}> : (tensor<512x1024xf32>, index) -> tensor<1024xf32>
        %154 = "lwe.rlwe_encode"(%153) <{encoding = #inverse_canonical_encoding, level = 1 : i64, ring = #ring_f64_1_x8192, scale = 45 : i64}> : (tensor<1024xf32>) -> !pt
        "preprocessing.store"(%154, %116, %arg32) <{element_type = !pt, site_id = 2 : i32}> : (!pt, !preprocessing.storage<!pt, !pt1>, index) -> ()
        "scf.yield"() : () -> ()
      }, {
      }) : (i1) -> ()
      "scf.yield"() : () -> ()
    }) : (index, index, index) -> ()
    "scf.for"(%112, %111, %112) ({
    ^bb0(%arg30: index):
      %124 = "arith.muli"(%arg30, %111) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %125 = "arith.cmpi"(%124, %113) <{predicate = 2 : i64}> : (index, index) -> i1
      "scf.if"(%125) ({
        %140 = "tensor.extract_slice"(%117, %124) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808, 0>, static_sizes = array<i64: 1, 1024>, static_strides = array<i64: 1, 1>}> : (tensor<512x1024xf32>, index) -> tensor<1x1024xf32>
        %141 = "arith.muli"(%arg30, %114) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
        %142 = "arith.remsi"(%141, %115) : (index, index) -> index
        %143 = "arith.addi"(%142, %115) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
        %144 = "arith.remsi"(%143, %115) : (index, index) -> index
        %145 = "arith.subi"(%115, %144) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
        %146 = "tensor.extract_slice"(%117, %124, %144) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>, static_offsets = array<i64: -9223372036854775808, 0>, static_sizes = array<i64: 1, -9223372036854775808>, static_strides = array<i64: 1, 1>}> : (tensor<512x1024xf32>, index, index) -> tensor<1x?xf32>
        %147 = "tensor.extract_slice"(%117, %124, %144, %145) <{operandSegmentSizes = array<i32: 1, 2, 1, 0>, static_offsets = array<i64: -9223372036854775808, -9223372036854775808>, static_sizes = array<i64: 1, -9223372036854775808>, static_strides = array<i64: 1, 1>}> : (tensor<512x1024xf32>, index, index, index) -> tensor<1x?xf32>
        %148 = "tensor.insert_slice"(%146, %140, %145, %144) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>, static_offsets = array<i64: 0, -9223372036854775808>, static_sizes = array<i64: 1, -9223372036854775808>, static_strides = array<i64: 1, 1>}> : (tensor<1x?xf32>, tensor<1x1024xf32>, index, index) -> tensor<1x1024xf32>
        %149 = "tensor.insert_slice"(%147, %148, %145) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, -9223372036854775808>, static_strides = array<i64: 1, 1>}> : (tensor<1x?xf32>, tensor<1x1024xf32>, index) -> tensor<1x1024xf32>
        %150 = "tensor.extract_slice"(%149) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 1024>, static_strides = array<i64: 1, 1>}> : (tensor<1x1024xf32>) -> tensor<1024xf32>
        %151 = "lwe.rlwe_encode"(%150) <{encoding = #inverse_canonical_encoding, level = 1 : i64, ring = #ring_f64_1_x8192, scale = 45 : i64}> : (tensor<1024xf32>) -> !pt
        "preprocessing.store"(%151, %116, %arg30) <{element_type = !pt, site_id = 3 : i32}> : (!pt, !preprocessing.storage<!pt, !pt1>, index) -> ()
        "scf.yield"() : () -> ()
      }, {
        "preprocessing.store"(%121, %116, %arg30) <{element_type = !pt1, site_id = 4 : i32}> : (!pt1, !preprocessing.storage<!pt, !pt1>, index) -> ()
        "scf.yield"() : () -> ()
      }) : (i1) -> ()
      "scf.for"(%112, %111, %112) ({
      ^bb0(%arg31: index):
        %126 = "arith.addi"(%arg31, %124) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
        %127 = "arith.cmpi"(%126, %113) <{predicate = 2 : i64}> : (index, index) -> i1
        "scf.if"(%127) ({
          %128 = "tensor.extract_slice"(%117, %126) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808, 0>, static_sizes = array<i64: 1, 1024>, static_strides = array<i64: 1, 1>}> : (tensor<512x1024xf32>, index) -> tensor<1x1024xf32>
          %129 = "arith.muli"(%arg30, %114) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
          %130 = "arith.remsi"(%129, %115) : (index, index) -> index
          %131 = "arith.addi"(%130, %115) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
          %132 = "arith.remsi"(%131, %115) : (index, index) -> index
          %133 = "arith.subi"(%115, %132) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
          %134 = "tensor.extract_slice"(%117, %126, %132) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>, static_offsets = array<i64: -9223372036854775808, 0>, static_sizes = array<i64: 1, -9223372036854775808>, static_strides = array<i64: 1, 1>}> : (tensor<512x1024xf32>, index, index) -> tensor<1x?xf32>
          %135 = "tensor.extract_slice"(%117, %126, %132, %133) <{operandSegmentSizes = array<i32: 1, 2, 1, 0>, static_offsets = array<i64: -9223372036854775808, -9223372036854775808>, static_sizes = array<i64: 1, -9223372036854775808>, static_strides = array<i64: 1, 1>}> : (tensor<512x1024xf32>, index, index, index) -> tensor<1x?xf32>
          %136 = "tensor.insert_slice"(%134, %128, %133, %132) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>, static_offsets = array<i64: 0, -9223372036854775808>, static_sizes = array<i64: 1, -9223372036854775808>, static_strides = array<i64: 1, 1>}> : (tensor<1x?xf32>, tensor<1x1024xf32>, index, index) -> tensor<1x1024xf32>
          %137 = "tensor.insert_slice"(%135, %136, %133) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, -9223372036854775808>, static_strides = array<i64: 1, 1>}> : (tensor<1x?xf32>, tensor<1x1024xf32>, index) -> tensor<1x1024xf32>
          %138 = "tensor.extract_slice"(%137) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 1024>, static_strides = array<i64: 1, 1>}> : (tensor<1x1024xf32>) -> tensor<1024xf32>
          %139 = "lwe.rlwe_encode"(%138) <{encoding = #inverse_canonical_encoding, level = 1 : i64, ring = #ring_f64_1_x8192, scale = 45 : i64}> : (tensor<1024xf32>) -> !pt
          "preprocessing.store"(%139, %116, %arg30, %arg31) <{element_type = !pt, site_id = 5 : i32}> : (!pt, !preprocessing.storage<!pt, !pt1>, index, index) -> ()
          "scf.yield"() : () -> ()
        }, {
        }) : (i1) -> ()
        "scf.yield"() : () -> ()
      }) : (index, index, index) -> ()
      "scf.yield"() : () -> ()
    }) : (index, index, index) -> ()
    %122 = "tensor.extract_slice"(%118) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 1024>, static_strides = array<i64: 1, 1>}> : (tensor<1x1024xf32>) -> tensor<1024xf32>
    %123 = "lwe.rlwe_encode"(%122) <{encoding = #inverse_canonical_encoding1, level = 1 : i64, ring = #ring_f64_1_x8192, scale = 90 : i64}> : (tensor<1024xf32>) -> !pt1
    "preprocessing.store"(%123, %116) <{element_type = !pt1, site_id = 6 : i32}> : (!pt1, !preprocessing.storage<!pt, !pt1>) -> ()
    "func.return"(%116) : (!preprocessing.storage<!pt, !pt1>) -> ()
  }) {heir.interface = {entry_arg_indices = array<i64: 2, 1>, func_name = "mnist", roles = ["server.preprocessing"]}} : () -> ()
  "func.func"() <{arg_attrs = [{heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 784>}, tensor_ext.original_type = #original_type}, {}, {}, {client.enc_zero_arg = {func_name = "mnist", index = 0 : i64}}, {}], function_type = (tensor<1x!ct_L1>, tensor<512x784xf32>, tensor<512xf32>, !ct_L1_1, !preprocessing.storage<!pt, !pt1>) -> tensor<1x!ct_L0>, sym_name = "mnist__preprocessed"}> ({
  ^bb0(%arg15: tensor<1x!ct_L1>, %arg16: tensor<512x784xf32>, %arg17: tensor<512xf32>, %arg18: !ct_L1_1, %arg19: !preprocessing.storage<!pt, !pt1>):
    %41 = "arith.constant"() <{value = 512 : index}> : () -> index
    %42 = "arith.constant"() <{value = 1 : index}> : () -> index
    %43 = "arith.constant"() <{value = 23 : index}> : () -> index
    %44 = "arith.constant"() <{value = 0 : index}> : () -> index
    %45 = "func.call"(%arg16) <{callee = @_assign_layout_1}> : (tensor<512x784xf32>) -> tensor<512x1024xf32>
    %46 = "func.call"(%arg17) <{callee = @_assign_layout_0}> : (tensor<512xf32>) -> tensor<1x1024xf32>
    %47 = "tensor.empty"() : () -> tensor<23x!ct_L1>
    %48 = "tensor.insert_slice"(%arg15, %47) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: 1>, static_strides = array<i64: 1>}> : (tensor<1x!ct_L1>, tensor<23x!ct_L1>) -> tensor<23x!ct_L1>
    %49 = "scf.for"(%42, %43, %42, %48) ({
    ^bb0(%arg26: index, %arg27: tensor<23x!ct_L1>):
      %105 = "tensor.empty"() : () -> tensor<1x!ct_L1>
      %106 = "tensor.extract"(%arg15, %44) : (tensor<1x!ct_L1>, index) -> !ct_L1
      %107 = "ckks.rotate"(%106, %arg26) : (!ct_L1, index) -> !ct_L1
      %108 = "tensor.insert"(%107, %105, %44) : (!ct_L1, tensor<1x!ct_L1>, index) -> tensor<1x!ct_L1>
      %109 = "tensor.insert_slice"(%108, %arg27, %arg26) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 1>, static_strides = array<i64: 1>}> : (tensor<1x!ct_L1>, tensor<23x!ct_L1>, index) -> tensor<23x!ct_L1>
      "scf.yield"(%109) : (tensor<23x!ct_L1>) -> ()
    }) : (index, index, index, tensor<23x!ct_L1>) -> tensor<23x!ct_L1>
    %50 = "preprocessing.load"(%arg19) <{element_type = !pt, site_id = 0 : i32}> : (!preprocessing.storage<!pt, !pt1>) -> !pt
    %51 = "tensor.extract"(%49, %44) : (tensor<23x!ct_L1>, index) -> !ct_L1
    %52 = "ckks.mul_plain"(%51, %50) : (!ct_L1, !pt) -> !ct_L1_1
    %53 = "preprocessing.load"(%arg19) <{element_type = !pt1, site_id = 1 : i32}> : (!preprocessing.storage<!pt, !pt1>) -> !pt1
    %54 = "tensor.empty"() : () -> tensor<1x!ct_L1_1>
    %55 = "ckks.add_plain"(%52, %53) : (!ct_L1_1, !pt1) -> !ct_L1_1
    %56 = "tensor.insert"(%55, %54, %44) : (!ct_L1_1, tensor<1x!ct_L1_1>, index) -> tensor<1x!ct_L1_1>
    %57 = "scf.for"(%42, %43, %42, %56) ({
    ^bb0(%arg24: index, %arg25: tensor<1x!ct_L1_1>):
      %97 = "arith.cmpi"(%arg24, %41) <{predicate = 2 : i64}> : (index, index) -> i1
      %98 = "scf.if"(%97) ({
        %99 = "preprocessing.load"(%arg19, %arg24) <{element_type = !pt, site_id = 2 : i32}> : (!preprocessing.storage<!pt, !pt1>, index) -> !pt
        %100 = "tensor.extract"(%49, %arg24) : (tensor<23x!ct_L1>, index) -> !ct_L1
        %101 = "ckks.mul_plain"(%100, %99) : (!ct_L1, !pt) -> !ct_L1_1
        %102 = "tensor.extract"(%arg25, %44) : (tensor<1x!ct_L1_1>, index) -> !ct_L1_1
        %103 = "ckks.add"(%102, %101) : (!ct_L1_1, !ct_L1_1) -> !ct_L1_1
        %104 = "tensor.insert"(%103, %54, %44) : (!ct_L1_1, tensor<1x!ct_L1_1>, index) -> tensor<1x!ct_L1_1>
        "scf.yield"(%104) : (tensor<1x!ct_L1_1>) -> ()
      }, {
        "scf.yield"(%arg25) : (tensor<1x!ct_L1_1>) -> ()
      }) : (i1) -> tensor<1x!ct_L1_1>
      "scf.yield"(%98) : (tensor<1x!ct_L1_1>) -> ()
    }) : (index, index, index, tensor<1x!ct_L1_1>) -> tensor<1x!ct_L1_1>
    %58 = "tensor.extract"(%57, %44) : (tensor<1x!ct_L1_1>, index) -> !ct_L1_1
    %59 = "ckks.add_plain"(%58, %53) : (!ct_L1_1, !pt1) -> !ct_L1_1
    %60 = "tensor.insert"(%59, %54, %44) : (!ct_L1_1, tensor<1x!ct_L1_1>, index) -> tensor<1x!ct_L1_1>
    %61 = "scf.for"(%42, %43, %42, %60) ({
    ^bb0(%arg20: index, %arg21: tensor<1x!ct_L1_1>):
      %70 = "arith.muli"(%arg20, %43) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %71 = "arith.cmpi"(%70, %41) <{predicate = 2 : i64}> : (index, index) -> i1
      %72 = "scf.if"(%71) ({
        %93 = "preprocessing.load"(%arg19, %arg20) <{element_type = !pt, site_id = 3 : i32}> : (!preprocessing.storage<!pt, !pt1>, index) -> !pt
        %94 = "ckks.mul_plain"(%51, %93) : (!ct_L1, !pt) -> !ct_L1_1
        %95 = "ckks.add_plain"(%94, %53) : (!ct_L1_1, !pt1) -> !ct_L1_1
        %96 = "tensor.insert"(%95, %54, %44) : (!ct_L1_1, tensor<1x!ct_L1_1>, index) -> tensor<1x!ct_L1_1>
        "scf.yield"(%96) : (tensor<1x!ct_L1_1>) -> ()
      }, {
        %88 = "preprocessing.load"(%arg19, %arg20) <{element_type = !pt1, site_id = 4 : i32}> : (!preprocessing.storage<!pt, !pt1>, index) -> !pt1
        %89 = "tensor.splat"(%arg18) : (!ct_L1_1) -> tensor<1x!ct_L1_1>
        %90 = "tensor.extract"(%89, %44) : (tensor<1x!ct_L1_1>, index) -> !ct_L1_1
        %91 = "lwe.radd_plain"(%90, %88) : (!ct_L1_1, !pt1) -> !ct_L1_1
        %92 = "tensor.insert"(%91, %54, %44) : (!ct_L1_1, tensor<1x!ct_L1_1>, index) -> tensor<1x!ct_L1_1>
        "scf.yield"(%92) : (tensor<1x!ct_L1_1>) -> ()
      }) : (i1) -> tensor<1x!ct_L1_1>
      %73 = "scf.for"(%42, %43, %42, %72) ({
      ^bb0(%arg22: index, %arg23: tensor<1x!ct_L1_1>):
        %79 = "arith.addi"(%arg22, %70) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
        %80 = "arith.cmpi"(%79, %41) <{predicate = 2 : i64}> : (index, index) -> i1
        %81 = "scf.if"(%80) ({
          %82 = "preprocessing.load"(%arg19, %arg20, %arg22) <{element_type = !pt, site_id = 5 : i32}> : (!preprocessing.storage<!pt, !pt1>, index, index) -> !pt
          %83 = "tensor.extract"(%49, %arg22) : (tensor<23x!ct_L1>, index) -> !ct_L1
          %84 = "ckks.mul_plain"(%83, %82) : (!ct_L1, !pt) -> !ct_L1_1
          %85 = "tensor.extract"(%arg23, %44) : (tensor<1x!ct_L1_1>, index) -> !ct_L1_1
          %86 = "ckks.add"(%85, %84) : (!ct_L1_1, !ct_L1_1) -> !ct_L1_1
          %87 = "tensor.insert"(%86, %54, %44) : (!ct_L1_1, tensor<1x!ct_L1_1>, index) -> tensor<1x!ct_L1_1>
          "scf.yield"(%87) : (tensor<1x!ct_L1_1>) -> ()
        }, {
          "scf.yield"(%arg23) : (tensor<1x!ct_L1_1>) -> ()
        }) : (i1) -> tensor<1x!ct_L1_1>
        "scf.yield"(%81) : (tensor<1x!ct_L1_1>) -> ()
      }) : (index, index, index, tensor<1x!ct_L1_1>) -> tensor<1x!ct_L1_1>
      %74 = "tensor.extract"(%73, %44) : (tensor<1x!ct_L1_1>, index) -> !ct_L1_1
      %75 = "ckks.rotate"(%74, %70) : (!ct_L1_1, index) -> !ct_L1_1
      %76 = "tensor.extract"(%arg21, %44) : (tensor<1x!ct_L1_1>, index) -> !ct_L1_1
      %77 = "ckks.add"(%76, %75) : (!ct_L1_1, !ct_L1_1) -> !ct_L1_1
      %78 = "tensor.insert"(%77, %54, %44) : (!ct_L1_1, tensor<1x!ct_L1_1>, index) -> tensor<1x!ct_L1_1>
      "scf.yield"(%78) : (tensor<1x!ct_L1_1>) -> ()
    }) : (index, index, index, tensor<1x!ct_L1_1>) -> tensor<1x!ct_L1_1>
    %62 = "tensor.extract"(%61, %44) : (tensor<1x!ct_L1_1>, index) -> !ct_L1_1
    %63 = "ckks.rotate"(%62, %41) : (!ct_L1_1, index) -> !ct_L1_1
    %64 = "preprocessing.load"(%arg19) <{element_type = !pt1, site_id = 6 : i32}> : (!preprocessing.storage<!pt, !pt1>) -> !pt1
    %65 = "ckks.add_plain"(%62, %64) : (!ct_L1_1, !pt1) -> !ct_L1_1
    %66 = "ckks.add"(%65, %63) : (!ct_L1_1, !ct_L1_1) -> !ct_L1_1
    %67 = "tensor.empty"() : () -> tensor<1x!ct_L0>
    %68 = "ckks.rescale"(%66) <{to_ring = #ring_rns_L0_1_x8192}> : (!ct_L1_1) -> !ct_L0
    %69 = "tensor.insert"(%68, %67, %44) : (!ct_L0, tensor<1x!ct_L0>, index) -> tensor<1x!ct_L0>
    "func.return"(%69) : (tensor<1x!ct_L0>) -> ()
  }) {heir.interface = {func_name = "mnist", roles = ["client.preprocessed", "server.evaluate"]}} : () -> ()
  "func.func"() <{arg_attrs = [{heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 784>}, tensor_ext.original_type = #original_type}, {}, {}, {client.enc_zero_arg = {func_name = "mnist", index = 0 : i64}}], function_type = (tensor<1x!ct_L1>, tensor<512x784xf32>, tensor<512xf32>, !ct_L1_1) -> tensor<1x!ct_L0>, res_attrs = [{tensor_ext.original_type = #original_type1}], sym_name = "mnist"}> ({
  ^bb0(%arg11: tensor<1x!ct_L1>, %arg12: tensor<512x784xf32>, %arg13: tensor<512xf32>, %arg14: !ct_L1_1):
    %39 = "func.call"(%arg13, %arg12) <{callee = @mnist__preprocessing}> : (tensor<512xf32>, tensor<512x784xf32>) -> !preprocessing.storage<!pt, !pt1>
    %40 = "func.call"(%arg11, %arg12, %arg13, %arg14, %39) <{callee = @mnist__preprocessed}> : (tensor<1x!ct_L1>, tensor<512x784xf32>, tensor<512xf32>, !ct_L1_1, !preprocessing.storage<!pt, !pt1>) -> tensor<1x!ct_L0>
    "func.return"(%40) : (tensor<1x!ct_L0>) -> ()
  }) {heir.interface = {func_name = "mnist", input_types = [tensor<784xf32>, tensor<512x784xf32>, tensor<512xf32>], result_types = [tensor<512xf32>], roles = ["entry"]}} : () -> ()
  "func.func"() <{function_type = (!pkey_L1) -> !ct_L1_1, sym_name = "mnist__encrypt__zero__0"}> ({
  ^bb0(%arg10: !pkey_L1):
    %36 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<1024xf64>}> : () -> tensor<1024xf64>
    %37 = "lwe.rlwe_encode"(%36) <{encoding = #inverse_canonical_encoding1, level = 1 : i64, ring = #ring_f64_1_x8192}> : (tensor<1024xf64>) -> !pt1
    %38 = "lwe.rlwe_encrypt"(%37, %arg10) : (!pt1, !pkey_L1) -> !ct_L1_1
    "func.return"(%38) : (!ct_L1_1) -> ()
  }) {heir.interface = {func_name = "mnist", index = 0 : i64, roles = ["client.encrypt_zero"]}} : () -> ()
  "func.func"() <{function_type = (tensor<784xf32>, !pkey_L1) -> tensor<1x!ct_L1>, sym_name = "mnist__encrypt__arg0"}> ({
  ^bb0(%arg6: tensor<784xf32>, %arg7: !pkey_L1):
    %23 = "arith.constant"() <{value = 0 : index}> : () -> index
    %24 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<1x1024xf32>}> : () -> tensor<1x1024xf32>
    %25 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %26 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %27 = "arith.constant"() <{value = 784 : i32}> : () -> i32
    %28 = "scf.for"(%25, %27, %26, %24) ({
    ^bb0(%arg8: i32, %arg9: tensor<1x1024xf32>):
      %33 = "arith.index_cast"(%arg8) : (i32) -> index
      %34 = "tensor.extract"(%arg6, %33) : (tensor<784xf32>, index) -> f32
      %35 = "tensor.insert"(%34, %arg9, %23, %33) : (f32, tensor<1x1024xf32>, index, index) -> tensor<1x1024xf32>
      "scf.yield"(%35) : (tensor<1x1024xf32>) -> ()
    }) : (i32, i32, i32, tensor<1x1024xf32>) -> tensor<1x1024xf32>
    %29 = "tensor.extract_slice"(%28) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 1024>, static_strides = array<i64: 1, 1>}> : (tensor<1x1024xf32>) -> tensor<1024xf32>
    %30 = "lwe.rlwe_encode"(%29) <{encoding = #inverse_canonical_encoding, level = 1 : i64, ring = #ring_f64_1_x8192, scale = 45 : i64}> : (tensor<1024xf32>) -> !pt
    %31 = "lwe.rlwe_encrypt"(%30, %arg7) : (!pt, !pkey_L1) -> !ct_L1
    %32 = "tensor.from_elements"(%31) : (!ct_L1) -> tensor<1x!ct_L1>
    "func.return"(%32) : (tensor<1x!ct_L1>) -> ()
  }) {heir.interface = {func_name = "mnist", index = 0 : i64, roles = ["client.encrypt"]}} : () -> ()
  "func.func"() <{function_type = (tensor<1x!ct_L0>, !skey_L0) -> tensor<512xf32>, sym_name = "mnist__decrypt__result0"}> ({
  ^bb0(%arg0: tensor<1x!ct_L0>, %arg1: !skey_L0):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "arith.constant"() <{value = 1024 : i32}> : () -> i32
    %2 = "arith.constant"() <{value = 512 : i32}> : () -> i32
    %3 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %4 = "arith.constant"() <{value = 511 : i32}> : () -> i32
    %5 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %6 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<512xf32>}> : () -> tensor<512xf32>
    %7 = "tensor.extract"(%arg0, %0) : (tensor<1x!ct_L0>, index) -> !ct_L0
    %8 = "lwe.rlwe_decrypt"(%7, %arg1) : (!ct_L0, !skey_L0) -> !pt
    %9 = "lwe.rlwe_decode"(%8) <{encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x8192}> : (!pt) -> tensor<1x1024xf32>
    %10 = "scf.for"(%5, %2, %3, %6) ({
    ^bb0(%arg2: i32, %arg3: tensor<512xf32>):
      %11 = "arith.subi"(%4, %arg2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %12 = "scf.for"(%11, %1, %2, %arg3) ({
      ^bb0(%arg4: i32, %arg5: tensor<512xf32>):
        %13 = "arith.addi"(%arg2, %2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
        %14 = "arith.floordivsi"(%13, %2) : (i32, i32) -> i32
        %15 = "arith.muli"(%14, %2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
        %16 = "arith.addi"(%11, %15) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
        %17 = "arith.subi"(%arg4, %11) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
        %18 = "arith.subi"(%16, %17) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
        %19 = "arith.index_cast"(%18) : (i32) -> index
        %20 = "tensor.extract"(%9, %0, %19) : (tensor<1x1024xf32>, index, index) -> f32
        %21 = "arith.index_cast"(%11) : (i32) -> index
        %22 = "tensor.insert"(%20, %arg5, %21) : (f32, tensor<512xf32>, index) -> tensor<512xf32>
        "scf.yield"(%22) : (tensor<512xf32>) -> ()
      }) : (i32, i32, i32, tensor<512xf32>) -> tensor<512xf32>
      "scf.yield"(%12) : (tensor<512xf32>) -> ()
    }) : (i32, i32, i32, tensor<512xf32>) -> tensor<512xf32>
    "func.return"(%10) : (tensor<512xf32>) -> ()
  }) {heir.interface = {func_name = "mnist", index = 0 : i64, roles = ["client.decrypt"]}} : () -> ()
}) {backend.openfhe, ckks.schemeParam = #ckks.scheme_param<logN = 13, Q = [36028797018652673, 35184372121601], P = [1152921504606994433], logDefaultScale = 45>, scheme.actual_slot_count = 4096 : i64, scheme.ckks, scheme.requested_slot_count = 1024 : i64} : () -> ()

