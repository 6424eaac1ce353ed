!Z35184371138561_i64 = !mod_arith.int<35184371138561 : i64>
!Z35184372121601_i64 = !mod_arith.int<35184372121601 : i64>
!Z35184372744193_i64 = !mod_arith.int<35184372744193 : i64>
!Z36028797017456641_i64 = !mod_arith.int<36028797017456641 : i64>
#inverse_canonical_encoding = #lwe.inverse_canonical_encoding<scaling_factor = 45>
#inverse_canonical_encoding1 = #lwe.inverse_canonical_encoding<scaling_factor = 90>
#key = #lwe.key<>
#layout = #tensor_ext.layout<"{ [i0] -> [ct, slot] : ct = 0 and (-i0 + slot) mod 16 = 0 and 0 <= i0 <= 15 and 0 <= slot <= 15 }">
#modulus_chain_L3_C0 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184372744193 : i64, 35184371138561 : i64, 35184372121601 : i64>, current = 0>
#modulus_chain_L3_C1 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184372744193 : i64, 35184371138561 : i64, 35184372121601 : i64>, current = 1>
#modulus_chain_L3_C2 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184372744193 : i64, 35184371138561 : i64, 35184372121601 : i64>, current = 2>
#modulus_chain_L3_C3 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184372744193 : i64, 35184371138561 : i64, 35184372121601 : i64>, current = 3>
#ring_f64_1_x16384 = #polynomial.ring<coefficientType = f64, polynomialModulus = <1 + x**16384>>
!rns_L0 = !rns.rns<!Z36028797017456641_i64>
!rns_L1 = !rns.rns<!Z36028797017456641_i64, !Z35184372744193_i64>
!rns_L2 = !rns.rns<!Z36028797017456641_i64, !Z35184372744193_i64, !Z35184371138561_i64>
!rns_L3 = !rns.rns<!Z36028797017456641_i64, !Z35184372744193_i64, !Z35184371138561_i64, !Z35184372121601_i64>
#original_type = #tensor_ext.original_type<originalType = tensor<16xf32>, layout = #layout>
!pt = !lwe.lwe_plaintext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding>>
#ring_rns_L0_1_x16384 = #polynomial.ring<coefficientType = !rns_L0, polynomialModulus = <1 + x**16384>>
#ring_rns_L1_1_x16384 = #polynomial.ring<coefficientType = !rns_L1, polynomialModulus = <1 + x**16384>>
#ring_rns_L2_1_x16384 = #polynomial.ring<coefficientType = !rns_L2, polynomialModulus = <1 + x**16384>>
#ring_rns_L3_1_x16384 = #polynomial.ring<coefficientType = !rns_L3, polynomialModulus = <1 + x**16384>>
!pkey_L3 = !lwe.lwe_public_key<key = #key, ring = #ring_rns_L3_1_x16384>
!skey_L1 = !lwe.lwe_secret_key<key = #key, ring = #ring_rns_L1_1_x16384>
#ciphertext_space_L0 = #lwe.ciphertext_space<ring = #ring_rns_L0_1_x16384, encryption_type = mix>
#ciphertext_space_L1 = #lwe.ciphertext_space<ring = #ring_rns_L1_1_x16384, encryption_type = mix>
#ciphertext_space_L1_D3 = #lwe.ciphertext_space<ring = #ring_rns_L1_1_x16384, encryption_type = mix, size = 3>
#ciphertext_space_L2 = #lwe.ciphertext_space<ring = #ring_rns_L2_1_x16384, encryption_type = mix>
#ciphertext_space_L2_D3 = #lwe.ciphertext_space<ring = #ring_rns_L2_1_x16384, encryption_type = mix, size = 3>
#ciphertext_space_L3 = #lwe.ciphertext_space<ring = #ring_rns_L3_1_x16384, encryption_type = mix>
#ciphertext_space_L3_D3 = #lwe.ciphertext_space<ring = #ring_rns_L3_1_x16384, encryption_type = mix, size = 3>
!ct_L0 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L0, key = #key, modulus_chain = #modulus_chain_L3_C0>
!ct_L1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L1, key = #key, modulus_chain = #modulus_chain_L3_C1>
!ct_L1_1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L1, key = #key, modulus_chain = #modulus_chain_L3_C1>
!ct_L1_D3 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L1_D3, key = #key, modulus_chain = #modulus_chain_L3_C1>
!ct_L2 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L2, key = #key, modulus_chain = #modulus_chain_L3_C2>
!ct_L2_1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L2, key = #key, modulus_chain = #modulus_chain_L3_C2>
!ct_L2_D3 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L2_D3, key = #key, modulus_chain = #modulus_chain_L3_C2>
!ct_L3 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L3, key = #key, modulus_chain = #modulus_chain_L3_C3>
!ct_L3_1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L3, key = #key, modulus_chain = #modulus_chain_L3_C3>
!ct_L3_D3 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L3_D3, key = #key, modulus_chain = #modulus_chain_L3_C3>
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<16xf32>) -> tensor<1x16xf32>, sym_name = "_assign_layout_0", sym_visibility = "private"}> ({
  ^bb0(%arg14: tensor<16xf32>):
    %65 = "arith.constant"() <{value = 0 : index}> : () -> index
    %66 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<1x16xf32>}> : () -> tensor<1x16xf32>
    %67 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %68 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %69 = "arith.constant"() <{value = 16 : i32}> : () -> i32
    %70 = "scf.for"(%67, %69, %68, %66) ({
    ^bb0(%arg15: i32, %arg16: tensor<1x16xf32>):
      %71 = "arith.index_cast"(%arg15) : (i32) -> index
      %72 = "tensor.extract"(%arg14, %71) : (tensor<16xf32>, index) -> f32
      %73 = "tensor.insert"(%72, %arg16, %65, %71) : (f32, tensor<1x16xf32>, index, index) -> tensor<1x16xf32>
      "scf.yield"(%73) : (tensor<1x16xf32>) -> ()
    }) : (i32, i32, i32, tensor<1x16xf32>) -> tensor<1x16xf32>
    "func.return"(%70) : (tensor<1x16xf32>) -> ()
  }) {heir.interface = {func_name = "powers", roles = ["client.pack"]}} : () -> ()
  "func.func"() <{function_type = (tensor<16xf32>) -> !preprocessing.storage<!pt>, sym_name = "powers__preprocessing"}> ({
  ^bb0(%arg13: tensor<16xf32>):
    %58 = "arith.constant"() <{value = dense<1.000000e+00> : tensor<16xf32>}> : () -> tensor<16xf32>
    %59 = "preprocessing.empty"() : () -> !preprocessing.storage<!pt>
    %60 = "func.call"(%arg13) <{callee = @_assign_layout_0}> : (tensor<16xf32>) -> tensor<1x16xf32>
    %61 = "tensor.extract_slice"(%60) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 16>, static_strides = array<i64: 1, 1>}> : (tensor<1x16xf32>) -> tensor<16xf32>
    %62 = "lwe.rlwe_encode"(%61) <{encoding = #inverse_canonical_encoding, level = 2 : i64, ring = #ring_f64_1_x16384, scale = 45 : i64}> : (tensor<16xf32>) -> !pt
    "preprocessing.store"(%62, %59) <{element_type = !pt, site_id = 0 : i32}> : (!pt, !preprocessing.storage<!pt>) -> ()
    %63 = "lwe.rlwe_encode"(%58) <{encoding = #inverse_canonical_encoding, level = 3 : i64, ring = #ring_f64_1_x16384, scale = 45 : i64}> : (tensor<16xf32>) -> !pt
    "preprocessing.store"(%63, %59) <{element_type = !pt, site_id = 1 : i32}> : (!pt, !preprocessing.storage<!pt>) -> ()
    %64 = "lwe.rlwe_encode"(%58) <{encoding = #inverse_canonical_encoding, level = 2 : i64, ring = #ring_f64_1_x16384, scale = 45 : i64}> : (tensor<16xf32>) -> !pt
    "preprocessing.store"(%64, %59) <{element_type = !pt, site_id = 2 : i32}> : (!pt, !preprocessing.storage<!pt>) -> ()
    "func.return"(%59) : (!preprocessing.storage<!pt>) -> ()
  }) {heir.interface = {entry_arg_indices = array<i64: 1>, func_name = "powers", roles = ["server.preprocessing"]}} : () -> ()
  "func.func"() <{arg_attrs = [{heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 16>}, tensor_ext.original_type = #original_type}, {}, {}], function_type = (tensor<1x!ct_L3>, tensor<16xf32>, !preprocessing.storage<!pt>) -> tensor<1x!ct_L1>, sym_name = "powers__preprocessed"}> ({
  ^bb0(%arg10: tensor<1x!ct_L3>, %arg11: tensor<16xf32>, %arg12: !preprocessing.storage<!pt>):
    %29 = "arith.constant"() <{value = 0 : index}> : () -> index
    %30 = "func.call"(%arg11) <{callee = @_assign_layout_0}> : (tensor<16xf32>) -> tensor<1x16xf32>
    %31 = "tensor.extract"(%arg10, %29) : (tensor<1x!ct_L3>, index) -> !ct_L3
    %32 = "ckks.mul"(%31, %31) {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 16>}} : (!ct_L3, !ct_L3) -> !ct_L3_D3
    %33 = "ckks.relinearize"(%32) <{from_basis = array<i32: 0, 1, 2>, to_basis = array<i32: 0, 1>}> : (!ct_L3_D3) -> !ct_L3_1
    %34 = "ckks.rescale"(%33) <{to_ring = #ring_rns_L2_1_x16384}> : (!ct_L3_1) -> !ct_L2
    %35 = "preprocessing.load"(%arg12) <{element_type = !pt, site_id = 0 : i32}> : (!preprocessing.storage<!pt>) -> !pt
    %36 = "ckks.mul_plain"(%34, %35) : (!ct_L2, !pt) -> !ct_L2_1
    %37 = "ckks.rescale"(%36) <{to_ring = #ring_rns_L1_1_x16384}> : (!ct_L2_1) -> !ct_L1
    %38 = "ckks.level_reduce"(%33) <{levelToDrop = 1 : i64}> : (!ct_L3_1) -> !ct_L2_1
    %39 = "ckks.rescale"(%38) <{to_ring = #ring_rns_L1_1_x16384}> : (!ct_L2_1) -> !ct_L1
    %40 = "ckks.mul"(%37, %39) : (!ct_L1, !ct_L1) -> !ct_L1_D3
    %41 = "ckks.relinearize"(%40) <{from_basis = array<i32: 0, 1, 2>, to_basis = array<i32: 0, 1>}> : (!ct_L1_D3) -> !ct_L1_1
    %42 = "ckks.rescale"(%41) <{to_ring = #ring_rns_L0_1_x16384}> : (!ct_L1_1) -> !ct_L0
    %43 = "ckks.bootstrap"(%42) : (!ct_L0) -> !ct_L3
    %44 = "ckks.mul"(%43, %43) {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 16>}} : (!ct_L3, !ct_L3) -> !ct_L3_D3
    %45 = "ckks.relinearize"(%44) <{from_basis = array<i32: 0, 1, 2>, to_basis = array<i32: 0, 1>}> : (!ct_L3_D3) -> !ct_L3_1
    %46 = "ckks.rescale"(%45) <{to_ring = #ring_rns_L2_1_x16384}> : (!ct_L3_1) -> !ct_L2
    %47 = "ckks.mul"(%46, %46) {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 16>}} : (!ct_L2, !ct_L2) -> !ct_L2_D3
    %48 = "ckks.relinearize"(%47) <{from_basis = array<i32: 0, 1, 2>, to_basis = array<i32: 0, 1>}> : (!ct_L2_D3) -> !ct_L2_1
    %49 = "preprocessing.load"(%arg12) <{element_type = !pt, site_id = 1 : i32}> : (!preprocessing.storage<!pt>) -> !pt
    %50 = "ckks.mul_plain"(%31, %49) : (!ct_L3, !pt) -> !ct_L3_1
    %51 = "ckks.rescale"(%50) <{to_ring = #ring_rns_L2_1_x16384}> : (!ct_L3_1) -> !ct_L2
    %52 = "preprocessing.load"(%arg12) <{element_type = !pt, site_id = 2 : i32}> : (!preprocessing.storage<!pt>) -> !pt
    %53 = "ckks.mul_plain"(%51, %52) : (!ct_L2, !pt) -> !ct_L2_1
    %54 = "ckks.add"(%48, %53) {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 16>}} : (!ct_L2_1, !ct_L2_1) -> !ct_L2_1
    %55 = "tensor.empty"() : () -> tensor<1x!ct_L1>
    %56 = "ckks.rescale"(%54) <{to_ring = #ring_rns_L1_1_x16384}> {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 16>}} : (!ct_L2_1) -> !ct_L1
    %57 = "tensor.insert"(%56, %55, %29) : (!ct_L1, tensor<1x!ct_L1>, index) -> tensor<1x!ct_L1>
    "func.return"(%57) : (tensor<1x!ct_L1>) -> ()
  }) {heir.interface = {func_name = "powers", roles = ["client.preprocessed", "server.evaluate"]}} : () -> ()
  "func.func"() <{arg_attrs = [{heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 16>}, tensor_ext.original_type = #original_type}, {}], function_type = (tensor<1x!ct_L3>, tensor<16xf32>) -> tensor<1x!ct_L1>, res_attrs = [{tensor_ext.original_type = #original_type}], sym_name = "powers"}> ({
  ^bb0(%arg8: tensor<1x!ct_L3>, %arg9: tensor<16xf32>):
    %27 = "func.call"(%arg9) <{callee = @powers__preprocessing}> : (tensor<16xf32>) -> !preprocessing.storage<!pt>
    %28 = "func.call"(%arg8, %arg9, %27) <{callee = @powers__preprocessed}> : (tensor<1x!ct_L3>, tensor<16xf32>, !preprocessing.storage<!pt>) -> tensor<1x!ct_L1>
    "func.return"(%28) : (tensor<1x!ct_L1>) -> ()
  }) {heir.interface = {func_name = "powers", input_types = [tensor<16xf32>, tensor<16xf32>], result_types = [tensor<16xf32>], roles = ["entry"]}} : () -> ()
  "func.func"() <{function_type = (tensor<16xf32>, !pkey_L3) -> tensor<1x!ct_L3>, sym_name = "powers__encrypt__arg0"}> ({
  ^bb0(%arg4: tensor<16xf32>, %arg5: !pkey_L3):
    %14 = "arith.constant"() <{value = 0 : index}> : () -> index
    %15 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<1x16xf32>}> : () -> tensor<1x16xf32>
    %16 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %17 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %18 = "arith.constant"() <{value = 16 : i32}> : () -> i32
    %19 = "scf.for"(%16, %18, %17, %15) ({
    ^bb0(%arg6: i32, %arg7: tensor<1x16xf32>):
      %24 = "arith.index_cast"(%arg6) : (i32) -> index
      %25 = "tensor.extract"(%arg4, %24) : (tensor<16xf32>, index) -> f32
      %26 = "tensor.insert"(%25, %arg7, %14, %24) : (f32, tensor<1x16xf32>, index, index) -> tensor<1x16xf32>
      "scf.yield"(%26) : (tensor<1x16xf32>) -> ()
    }) : (i32, i32, i32, tensor<1x16xf32>) -> tensor<1x16xf32>
    %20 = "tensor.extract_slice"(%19) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 16>, static_strides = array<i64: 1, 1>}> : (tensor<1x16xf32>) -> tensor<16xf32>
    %21 = "lwe.rlwe_encode"(%20) <{encoding = #inverse_canonical_encoding, level = 3 : i64, ring = #ring_f64_1_x16384, scale = 45 : i64}> : (tensor<16xf32>) -> !pt
    %22 = "lwe.rlwe_encrypt"(%21, %arg5) : (!pt, !pkey_L3) -> !ct_L3
    %23 = "tensor.from_elements"(%22) : (!ct_L3) -> tensor<1x!ct_L3>
    "func.return"(%23) : (tensor<1x!ct_L3>) -> ()
  }) {heir.interface = {func_name = "powers", index = 0 : i64, roles = ["client.encrypt"]}} : () -> ()
  "func.func"() <{function_type = (tensor<1x!ct_L1>, !skey_L1) -> tensor<16xf32>, sym_name = "powers__decrypt__result0"}> ({
  ^bb0(%arg0: tensor<1x!ct_L1>, %arg1: !skey_L1):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "arith.constant"() <{value = 16 : i32}> : () -> i32
    %2 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %3 = "arith.constant"() <{value = 15 : i32}> : () -> i32
    %4 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %5 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<16xf32>}> : () -> tensor<16xf32>
    %6 = "tensor.extract"(%arg0, %0) : (tensor<1x!ct_L1>, index) -> !ct_L1
    %7 = "lwe.rlwe_decrypt"(%6, %arg1) : (!ct_L1, !skey_L1) -> !pt
    %8 = "lwe.rlwe_decode"(%7) <{encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x16384}> : (!pt) -> tensor<1x16xf32>
    %9 = "scf.for"(%4, %1, %2, %5) ({
    ^bb0(%arg2: i32, %arg3: tensor<16xf32>):
      %10 = "arith.subi"(%3, %arg2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %11 = "arith.index_cast"(%10) : (i32) -> index
      %12 = "tensor.extract"(%8, %0, %11) : (tensor<1x16xf32>, index, index) -> f32
      %13 = "tensor.insert"(%12, %arg3, %11) : (f32, tensor<16xf32>, index) -> tensor<16xf32>
      "scf.yield"(%13) : (tensor<16xf32>) -> ()
    }) : (i32, i32, i32, tensor<16xf32>) -> tensor<16xf32>
    "func.return"(%9) : (tensor<16xf32>) -> ()
  }) {heir.interface = {func_name = "powers", index = 0 : i64, roles = ["client.decrypt"]}} : () -> ()
}) {backend.lattigo, ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797017456641, 35184372744193, 35184371138561, 35184372121601], P = [1152921504607338497, 1152921504608747521], logDefaultScale = 45, encryptionTechnique = extended>, scheme.actual_slot_count = 8192 : i64, scheme.ckks, scheme.requested_slot_count = 16 : i64} : () -> ()

