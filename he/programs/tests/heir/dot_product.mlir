!Z35184371138561_i64 = !mod_arith.int<35184371138561 : i64>
!Z35184372121601_i64 = !mod_arith.int<35184372121601 : i64>
!Z36028797017456641_i64 = !mod_arith.int<36028797017456641 : i64>
#inverse_canonical_encoding = #lwe.inverse_canonical_encoding<scaling_factor = 90>
#inverse_canonical_encoding1 = #lwe.inverse_canonical_encoding<scaling_factor = 45>
#key = #lwe.key<>
#layout = #tensor_ext.layout<"{ [i0] -> [ct, slot] : ct = 0 and (-i0 + slot) mod 8 = 0 and 0 <= i0 <= 7 and 0 <= slot <= 7 }">
#layout1 = #tensor_ext.layout<"{ [] -> [ct, slot] : ct = 0 and slot = 0 }">
#modulus_chain_L2_C0 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184371138561 : i64, 35184372121601 : i64>, current = 0>
#modulus_chain_L2_C1 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184371138561 : i64, 35184372121601 : i64>, current = 1>
#modulus_chain_L2_C2 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184371138561 : i64, 35184372121601 : i64>, current = 2>
#ring_f64_1_x16384 = #polynomial.ring<coefficientType = f64, polynomialModulus = <1 + x**16384>>
!rns_L0 = !rns.rns<!Z36028797017456641_i64>
!rns_L1 = !rns.rns<!Z36028797017456641_i64, !Z35184371138561_i64>
!rns_L2 = !rns.rns<!Z36028797017456641_i64, !Z35184371138561_i64, !Z35184372121601_i64>
#original_type = #tensor_ext.original_type<originalType = tensor<8xf32>, layout = #layout>
#original_type1 = #tensor_ext.original_type<originalType = f32, layout = #layout1>
!pt = !lwe.lwe_plaintext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding>>
!pt1 = !lwe.lwe_plaintext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding1>>
#ring_rns_L0_1_x16384 = #polynomial.ring<coefficientType = !rns_L0, polynomialModulus = <1 + x**16384>>
#ring_rns_L1_1_x16384 = #polynomial.ring<coefficientType = !rns_L1, polynomialModulus = <1 + x**16384>>
#ring_rns_L2_1_x16384 = #polynomial.ring<coefficientType = !rns_L2, polynomialModulus = <1 + x**16384>>
!pkey_L2 = !lwe.lwe_public_key<key = #key, ring = #ring_rns_L2_1_x16384>
!skey_L0 = !lwe.lwe_secret_key<key = #key, ring = #ring_rns_L0_1_x16384>
#ciphertext_space_L0 = #lwe.ciphertext_space<ring = #ring_rns_L0_1_x16384, encryption_type = mix>
#ciphertext_space_L1 = #lwe.ciphertext_space<ring = #ring_rns_L1_1_x16384, encryption_type = mix>
#ciphertext_space_L2 = #lwe.ciphertext_space<ring = #ring_rns_L2_1_x16384, encryption_type = mix>
#ciphertext_space_L2_D3 = #lwe.ciphertext_space<ring = #ring_rns_L2_1_x16384, encryption_type = mix, size = 3>
!ct_L0 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L0, key = #key, modulus_chain = #modulus_chain_L2_C0>
!ct_L1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L1, key = #key, modulus_chain = #modulus_chain_L2_C1>
!ct_L1_1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L1, key = #key, modulus_chain = #modulus_chain_L2_C1>
!ct_L2 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L2, key = #key, modulus_chain = #modulus_chain_L2_C2>
!ct_L2_1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L2, key = #key, modulus_chain = #modulus_chain_L2_C2>
!ct_L2_D3 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L2_D3, key = #key, modulus_chain = #modulus_chain_L2_C2>
"builtin.module"() ({
  "func.func"() <{function_type = () -> !preprocessing.storage<!pt, !pt1>, sym_name = "dot_product__preprocessing"}> ({
    %55 = "arith.constant"() <{value = dense<1.000000e-01> : tensor<8xf32>}> : () -> tensor<8xf32>
    %56 = "arith.constant"() <{value = dense<[1.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]> : tensor<8xf32>}> : () -> tensor<8xf32>
    %57 = "preprocessing.empty"() : () -> !preprocessing.storage<!pt, !pt1>
    %58 = "lwe.rlwe_encode"(%55) <{encoding = #inverse_canonical_encoding, level = 2 : i64, ring = #ring_f64_1_x16384, scale = 90 : i64}> : (tensor<8xf32>) -> !pt
    "preprocessing.store"(%58, %57) <{element_type = !pt, site_id = 0 : i32}> : (!pt, !preprocessing.storage<!pt, !pt1>) -> ()
    %59 = "lwe.rlwe_encode"(%56) <{encoding = #inverse_canonical_encoding1, level = 1 : i64, ring = #ring_f64_1_x16384, scale = 45 : i64}> : (tensor<8xf32>) -> !pt1
    "preprocessing.store"(%59, %57) <{element_type = !pt1, site_id = 1 : i32}> : (!pt1, !preprocessing.storage<!pt, !pt1>) -> ()
    "func.return"(%57) : (!preprocessing.storage<!pt, !pt1>) -> ()
  }) {heir.interface = {entry_arg_indices = array<i64>, func_name = "dot_product", roles = ["server.preprocessing"]}} : () -> ()
  "func.func"() <{arg_attrs = [{heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}, tensor_ext.original_type = #original_type}, {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}, tensor_ext.original_type = #original_type}, {}], function_type = (tensor<1x!ct_L2>, tensor<1x!ct_L2>, !preprocessing.storage<!pt, !pt1>) -> tensor<1x!ct_L0>, sym_name = "dot_product__preprocessed"}> ({
  ^bb0(%arg12: tensor<1x!ct_L2>, %arg13: tensor<1x!ct_L2>, %arg14: !preprocessing.storage<!pt, !pt1>):
    %33 = "arith.constant"() <{value = 4 : index}> : () -> index
    %34 = "arith.constant"() <{value = 2 : index}> : () -> index
    %35 = "arith.constant"() <{value = 1 : index}> : () -> index
    %36 = "arith.constant"() <{value = 0 : index}> : () -> index
    %37 = "tensor.extract"(%arg12, %36) : (tensor<1x!ct_L2>, index) -> !ct_L2
    %38 = "tensor.extract"(%arg13, %36) : (tensor<1x!ct_L2>, index) -> !ct_L2
    %39 = "ckks.mul"(%37, %38) : (!ct_L2, !ct_L2) -> !ct_L2_D3
    %40 = "ckks.relinearize"(%39) <{from_basis = array<i32: 0, 1, 2>, to_basis = array<i32: 0, 1>}> : (!ct_L2_D3) -> !ct_L2_1
    %41 = "ckks.rotate"(%40, %35) : (!ct_L2_1, index) -> !ct_L2_1
    %42 = "ckks.add"(%40, %41) : (!ct_L2_1, !ct_L2_1) -> !ct_L2_1
    %43 = "ckks.rotate"(%42, %34) : (!ct_L2_1, index) -> !ct_L2_1
    %44 = "ckks.add"(%42, %43) : (!ct_L2_1, !ct_L2_1) -> !ct_L2_1
    %45 = "ckks.rotate"(%44, %33) : (!ct_L2_1, index) -> !ct_L2_1
    %46 = "preprocessing.load"(%arg14) <{element_type = !pt, site_id = 0 : i32}> : (!preprocessing.storage<!pt, !pt1>) -> !pt
    %47 = "ckks.add_plain"(%44, %46) : (!ct_L2_1, !pt) -> !ct_L2_1
    %48 = "ckks.add"(%47, %45) : (!ct_L2_1, !ct_L2_1) -> !ct_L2_1
    %49 = "ckks.rescale"(%48) <{to_ring = #ring_rns_L1_1_x16384}> : (!ct_L2_1) -> !ct_L1
    %50 = "preprocessing.load"(%arg14) <{element_type = !pt1, site_id = 1 : i32}> : (!preprocessing.storage<!pt, !pt1>) -> !pt1
    %51 = "ckks.mul_plain"(%49, %50) : (!ct_L1, !pt1) -> !ct_L1_1
    %52 = "tensor.empty"() : () -> tensor<1x!ct_L0>
    %53 = "ckks.rescale"(%51) <{to_ring = #ring_rns_L0_1_x16384}> : (!ct_L1_1) -> !ct_L0
    %54 = "tensor.insert"(%53, %52, %36) : (!ct_L0, tensor<1x!ct_L0>, index) -> tensor<1x!ct_L0>
    "func.return"(%54) : (tensor<1x!ct_L0>) -> ()
  }) {heir.interface = {func_name = "dot_product", roles = ["client.preprocessed", "server.evaluate"]}} : () -> ()
  "func.func"() <{arg_attrs = [{heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}, tensor_ext.original_type = #original_type}, {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}, tensor_ext.original_type = #original_type}], function_type = (tensor<1x!ct_L2>, tensor<1x!ct_L2>) -> tensor<1x!ct_L0>, res_attrs = [{tensor_ext.original_type = #original_type1}], sym_name = "dot_product"}> ({
  ^bb0(%arg10: tensor<1x!ct_L2>, %arg11: tensor<1x!ct_L2>):
    %31 = "func.call"() <{callee = @dot_product__preprocessing}> : () -> !preprocessing.storage<!pt, !pt1>
    %32 = "func.call"(%arg10, %arg11, %31) <{callee = @dot_product__preprocessed}> : (tensor<1x!ct_L2>, tensor<1x!ct_L2>, !preprocessing.storage<!pt, !pt1>) -> tensor<1x!ct_L0>
    "func.return"(%32) : (tensor<1x!ct_L0>) -> ()
  }) {heir.interface = {func_name = "dot_product", input_types = [tensor<8xf32>, tensor<8xf32>], result_types = [f32], roles = ["entry"]}} : () -> ()
  "func.func"() <{function_type = (tensor<8xf32>, !pkey_L2) -> tensor<1x!ct_L2>, sym_name = "dot_product__encrypt__arg0"}> ({
  ^bb0(%arg6: tensor<8xf32>, %arg7: !pkey_L2):
    %18 = "arith.constant"() <{value = 0 : index}> : () -> index
    %19 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<1x8xf32>}> : () -> tensor<1x8xf32>
    %20 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %21 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %22 = "arith.constant"() <{value = 8 : i32}> : () -> i32
    %23 = "scf.for"(%20, %22, %21, %19) ({
    ^bb0(%arg8: i32, %arg9: tensor<1x8xf32>):
      %28 = "arith.index_cast"(%arg8) : (i32) -> index
      %29 = "tensor.extract"(%arg6, %28) : (tensor<8xf32>, index) -> f32
      %30 = "tensor.insert"(%29, %arg9, %18, %28) : (f32, tensor<1x8xf32>, index, index) -> tensor<1x8xf32>
      "scf.yield"(%30) : (tensor<1x8xf32>) -> ()
    }) : (i32, i32, i32, tensor<1x8xf32>) -> tensor<1x8xf32>
    %24 = "tensor.extract_slice"(%23) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 8>, static_strides = array<i64: 1, 1>}> : (tensor<1x8xf32>) -> tensor<8xf32>
    %25 = "lwe.rlwe_encode"(%24) <{encoding = #inverse_canonical_encoding1, level = 2 : i64, ring = #ring_f64_1_x16384, scale = 45 : i64}> : (tensor<8xf32>) -> !pt1
    %26 = "lwe.rlwe_encrypt"(%25, %arg7) : (!pt1, !pkey_L2) -> !ct_L2
    %27 = "tensor.from_elements"(%26) : (!ct_L2) -> tensor<1x!ct_L2>
    "func.return"(%27) : (tensor<1x!ct_L2>) -> ()
  }) {heir.interface = {func_name = "dot_product", index = 0 : i64, roles = ["client.encrypt"]}} : () -> ()
  "func.func"() <{function_type = (tensor<8xf32>, !pkey_L2) -> tensor<1x!ct_L2>, sym_name = "dot_product__encrypt__arg1"}> ({
  ^bb0(%arg2: tensor<8xf32>, %arg3: !pkey_L2):
    %5 = "arith.constant"() <{value = 0 : index}> : () -> index
    %6 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<1x8xf32>}> : () -> tensor<1x8xf32>
    %7 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %8 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %9 = "arith.constant"() <{value = 8 : i32}> : () -> i32
    %10 = "scf.for"(%7, %9, %8, %6) ({
    ^bb0(%arg4: i32, %arg5: tensor<1x8xf32>):
      %15 = "arith.index_cast"(%arg4) : (i32) -> index
      %16 = "tensor.extract"(%arg2, %15) : (tensor<8xf32>, index) -> f32
      %17 = "tensor.insert"(%16, %arg5, %5, %15) : (f32, tensor<1x8xf32>, index, index) -> tensor<1x8xf32>
      "scf.yield"(%17) : (tensor<1x8xf32>) -> ()
    }) : (i32, i32, i32, tensor<1x8xf32>) -> tensor<1x8xf32>
    %11 = "tensor.extract_slice"(%10) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 8>, static_strides = array<i64: 1, 1>}> : (tensor<1x8xf32>) -> tensor<8xf32>
    %12 = "lwe.rlwe_encode"(%11) <{encoding = #inverse_canonical_encoding1, level = 2 : i64, ring = #ring_f64_1_x16384, scale = 45 : i64}> : (tensor<8xf32>) -> !pt1
    %13 = "lwe.rlwe_encrypt"(%12, %arg3) : (!pt1, !pkey_L2) -> !ct_L2
    %14 = "tensor.from_elements"(%13) : (!ct_L2) -> tensor<1x!ct_L2>
    "func.return"(%14) : (tensor<1x!ct_L2>) -> ()
  }) {heir.interface = {func_name = "dot_product", index = 1 : i64, roles = ["client.encrypt"]}} : () -> ()
  "func.func"() <{function_type = (tensor<1x!ct_L0>, !skey_L0) -> f32, sym_name = "dot_product__decrypt__result0"}> ({
  ^bb0(%arg0: tensor<1x!ct_L0>, %arg1: !skey_L0):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "tensor.extract"(%arg0, %0) : (tensor<1x!ct_L0>, index) -> !ct_L0
    %2 = "lwe.rlwe_decrypt"(%1, %arg1) : (!ct_L0, !skey_L0) -> !pt1
    %3 = "lwe.rlwe_decode"(%2) <{encoding = #inverse_canonical_encoding1, ring = #ring_f64_1_x16384}> : (!pt1) -> tensor<1x8xf32>
    %4 = "tensor.extract"(%3, %0, %0) : (tensor<1x8xf32>, index, index) -> f32
    "func.return"(%4) : (f32) -> ()
  }) {heir.interface = {func_name = "dot_product", index = 0 : i64, roles = ["client.decrypt"]}} : () -> ()
}) {backend.lattigo, ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797017456641, 35184371138561, 35184372121601], P = [1152921504607338497, 1152921504608747521], logDefaultScale = 45, encryptionTechnique = extended>, scheme.actual_slot_count = 8192 : i64, scheme.ckks, scheme.requested_slot_count = 8 : i64} : () -> ()

