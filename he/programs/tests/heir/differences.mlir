!Z35184372121601_i64 = !mod_arith.int<35184372121601 : i64>
!Z36028797018652673_i64 = !mod_arith.int<36028797018652673 : i64>
#inverse_canonical_encoding = #lwe.inverse_canonical_encoding<scaling_factor = 45>
#inverse_canonical_encoding1 = #lwe.inverse_canonical_encoding<scaling_factor = 90>
#key = #lwe.key<>
#layout = #tensor_ext.layout<"{ [i0] -> [ct, slot] : ct = 0 and (-i0 + slot) mod 16 = 0 and 0 <= i0 <= 15 and 0 <= slot <= 15 }">
#modulus_chain_L1_C0 = #lwe.modulus_chain<elements = <36028797018652673 : i64, 35184372121601 : i64>, current = 0>
#modulus_chain_L1_C1 = #lwe.modulus_chain<elements = <36028797018652673 : i64, 35184372121601 : i64>, current = 1>
#ring_f64_1_x8192 = #polynomial.ring<coefficientType = f64, polynomialModulus = <1 + x**8192>>
!rns_L0 = !rns.rns<!Z36028797018652673_i64>
!rns_L1 = !rns.rns<!Z36028797018652673_i64, !Z35184372121601_i64>
#original_type = #tensor_ext.original_type<originalType = tensor<16xf32>, layout = #layout>
!pt = !lwe.lwe_plaintext<plaintext_space = <ring = #ring_f64_1_x8192, encoding = #inverse_canonical_encoding>>
#ring_rns_L0_1_x8192 = #polynomial.ring<coefficientType = !rns_L0, polynomialModulus = <1 + x**8192>>
#ring_rns_L1_1_x8192 = #polynomial.ring<coefficientType = !rns_L1, polynomialModulus = <1 + x**8192>>
!pkey_L1 = !lwe.lwe_public_key<key = #key, ring = #ring_rns_L1_1_x8192>
!skey_L0 = !lwe.lwe_secret_key<key = #key, ring = #ring_rns_L0_1_x8192>
#ciphertext_space_L0 = #lwe.ciphertext_space<ring = #ring_rns_L0_1_x8192, encryption_type = mix>
#ciphertext_space_L1 = #lwe.ciphertext_space<ring = #ring_rns_L1_1_x8192, encryption_type = mix>
#ciphertext_space_L1_D3 = #lwe.ciphertext_space<ring = #ring_rns_L1_1_x8192, encryption_type = mix, size = 3>
!ct_L0 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x8192, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L0, key = #key, modulus_chain = #modulus_chain_L1_C0>
!ct_L1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x8192, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L1, key = #key, modulus_chain = #modulus_chain_L1_C1>
!ct_L1_1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x8192, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L1, key = #key, modulus_chain = #modulus_chain_L1_C1>
!ct_L1_D3 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x8192, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L1_D3, key = #key, modulus_chain = #modulus_chain_L1_C1>
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<16xf32>) -> tensor<1x16xf32>, sym_name = "_assign_layout_0", sym_visibility = "private"}> ({
  ^bb0(%arg20: tensor<16xf32>):
    %60 = "arith.constant"() <{value = 0 : index}> : () -> index
    %61 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<1x16xf32>}> : () -> tensor<1x16xf32>
    %62 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %63 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %64 = "arith.constant"() <{value = 16 : i32}> : () -> i32
    %65 = "scf.for"(%62, %64, %63, %61) ({
    ^bb0(%arg21: i32, %arg22: tensor<1x16xf32>):
      %66 = "arith.index_cast"(%arg21) : (i32) -> index
      %67 = "tensor.extract"(%arg20, %66) : (tensor<16xf32>, index) -> f32
      %68 = "tensor.insert"(%67, %arg22, %60, %66) : (f32, tensor<1x16xf32>, index, index) -> tensor<1x16xf32>
      "scf.yield"(%68) : (tensor<1x16xf32>) -> ()
    }) : (i32, i32, i32, tensor<1x16xf32>) -> tensor<1x16xf32>
    "func.return"(%65) : (tensor<1x16xf32>) -> ()
  }) {heir.interface = {func_name = "differences", roles = ["client.pack"]}} : () -> ()
  "func.func"() <{function_type = (tensor<16xf32>) -> !preprocessing.storage<!pt>, sym_name = "differences__preprocessing"}> ({
  ^bb0(%arg19: tensor<16xf32>):
    %56 = "preprocessing.empty"() : () -> !preprocessing.storage<!pt>
    %57 = "func.call"(%arg19) <{callee = @_assign_layout_0}> : (tensor<16xf32>) -> tensor<1x16xf32>
    %58 = "tensor.extract_slice"(%57) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 16>, static_strides = array<i64: 1, 1>}> : (tensor<1x16xf32>) -> tensor<16xf32>
    %59 = "lwe.rlwe_encode"(%58) <{encoding = #inverse_canonical_encoding, level = 1 : i64, ring = #ring_f64_1_x8192, scale = 45 : i64}> : (tensor<16xf32>) -> !pt
    "preprocessing.store"(%59, %56) <{element_type = !pt, site_id = 0 : i32}> : (!pt, !preprocessing.storage<!pt>) -> ()
    "func.return"(%56) : (!preprocessing.storage<!pt>) -> ()
  }) {heir.interface = {entry_arg_indices = array<i64: 2>, func_name = "differences", roles = ["server.preprocessing"]}} : () -> ()
  "func.func"() <{arg_attrs = [{heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 16>}, tensor_ext.original_type = #original_type}, {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 16>}, tensor_ext.original_type = #original_type}, {}, {}], function_type = (tensor<1x!ct_L1>, tensor<1x!ct_L1>, tensor<16xf32>, !preprocessing.storage<!pt>) -> tensor<1x!ct_L0>, sym_name = "differences__preprocessed"}> ({
  ^bb0(%arg15: tensor<1x!ct_L1>, %arg16: tensor<1x!ct_L1>, %arg17: tensor<16xf32>, %arg18: !preprocessing.storage<!pt>):
    %42 = "arith.constant"() <{value = 0 : index}> : () -> index
    %43 = "func.call"(%arg17) <{callee = @_assign_layout_0}> : (tensor<16xf32>) -> tensor<1x16xf32>
    %44 = "tensor.extract"(%arg15, %42) : (tensor<1x!ct_L1>, index) -> !ct_L1
    %45 = "tensor.extract"(%arg16, %42) : (tensor<1x!ct_L1>, index) -> !ct_L1
    %46 = "ckks.sub"(%44, %45) {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 16>}} : (!ct_L1, !ct_L1) -> !ct_L1
    %47 = "preprocessing.load"(%arg18) <{element_type = !pt, site_id = 0 : i32}> : (!preprocessing.storage<!pt>) -> !pt
    %48 = "ckks.sub_plain"(%47, %46) {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 16>}} : (!pt, !ct_L1) -> !ct_L1
    %49 = "ckks.sub_plain"(%46, %47) {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 16>}} : (!ct_L1, !pt) -> !ct_L1
    %50 = "ckks.mul"(%48, %49) {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 16>}} : (!ct_L1, !ct_L1) -> !ct_L1_D3
    %51 = "ckks.relinearize"(%50) <{from_basis = array<i32: 0, 1, 2>, to_basis = array<i32: 0, 1>}> : (!ct_L1_D3) -> !ct_L1_1
    %52 = "ckks.negate"(%51) {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 16>}} : (!ct_L1_1) -> !ct_L1_1
    %53 = "tensor.empty"() : () -> tensor<1x!ct_L0>
    %54 = "ckks.rescale"(%52) <{to_ring = #ring_rns_L0_1_x8192}> {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 16>}} : (!ct_L1_1) -> !ct_L0
    %55 = "tensor.insert"(%54, %53, %42) : (!ct_L0, tensor<1x!ct_L0>, index) -> tensor<1x!ct_L0>
    "func.return"(%55) : (tensor<1x!ct_L0>) -> ()
  }) {heir.interface = {func_name = "differences", roles = ["client.preprocessed", "server.evaluate"]}} : () -> ()
  "func.func"() <{arg_attrs = [{heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 16>}, tensor_ext.original_type = #original_type}, {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 16>}, tensor_ext.original_type = #original_type}, {}], function_type = (tensor<1x!ct_L1>, tensor<1x!ct_L1>, tensor<16xf32>) -> tensor<1x!ct_L0>, res_attrs = [{tensor_ext.original_type = #original_type}], sym_name = "differences"}> ({
  ^bb0(%arg12: tensor<1x!ct_L1>, %arg13: tensor<1x!ct_L1>, %arg14: tensor<16xf32>):
    %40 = "func.call"(%arg14) <{callee = @differences__preprocessing}> : (tensor<16xf32>) -> !preprocessing.storage<!pt>
    %41 = "func.call"(%arg12, %arg13, %arg14, %40) <{callee = @differences__preprocessed}> : (tensor<1x!ct_L1>, tensor<1x!ct_L1>, tensor<16xf32>, !preprocessing.storage<!pt>) -> tensor<1x!ct_L0>
    "func.return"(%41) : (tensor<1x!ct_L0>) -> ()
  }) {heir.interface = {func_name = "differences", input_types = [tensor<16xf32>, tensor<16xf32>, tensor<16xf32>], result_types = [tensor<16xf32>], roles = ["entry"]}} : () -> ()
  "func.func"() <{function_type = (tensor<16xf32>, !pkey_L1) -> tensor<1x!ct_L1>, sym_name = "differences__encrypt__arg0"}> ({
  ^bb0(%arg8: tensor<16xf32>, %arg9: !pkey_L1):
    %27 = "arith.constant"() <{value = 0 : index}> : () -> index
    %28 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<1x16xf32>}> : () -> tensor<1x16xf32>
    %29 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %30 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %31 = "arith.constant"() <{value = 16 : i32}> : () -> i32
    %32 = "scf.for"(%29, %31, %30, %28) ({
    ^bb0(%arg10: i32, %arg11: tensor<1x16xf32>):
      %37 = "arith.index_cast"(%arg10) : (i32) -> index
      %38 = "tensor.extract"(%arg8, %37) : (tensor<16xf32>, index) -> f32
      %39 = "tensor.insert"(%38, %arg11, %27, %37) : (f32, tensor<1x16xf32>, index, index) -> tensor<1x16xf32>
      "scf.yield"(%39) : (tensor<1x16xf32>) -> ()
    }) : (i32, i32, i32, tensor<1x16xf32>) -> tensor<1x16xf32>
    %33 = "tensor.extract_slice"(%32) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 16>, static_strides = array<i64: 1, 1>}> : (tensor<1x16xf32>) -> tensor<16xf32>
    %34 = "lwe.rlwe_encode"(%33) <{encoding = #inverse_canonical_encoding, level = 1 : i64, ring = #ring_f64_1_x8192, scale = 45 : i64}> : (tensor<16xf32>) -> !pt
    %35 = "lwe.rlwe_encrypt"(%34, %arg9) : (!pt, !pkey_L1) -> !ct_L1
    %36 = "tensor.from_elements"(%35) : (!ct_L1) -> tensor<1x!ct_L1>
    "func.return"(%36) : (tensor<1x!ct_L1>) -> ()
  }) {heir.interface = {func_name = "differences", index = 0 : i64, roles = ["client.encrypt"]}} : () -> ()
  "func.func"() <{function_type = (tensor<16xf32>, !pkey_L1) -> tensor<1x!ct_L1>, sym_name = "differences__encrypt__arg1"}> ({
  ^bb0(%arg4: tensor<16xf32>, %arg5: !pkey_L1):
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
    %21 = "lwe.rlwe_encode"(%20) <{encoding = #inverse_canonical_encoding, level = 1 : i64, ring = #ring_f64_1_x8192, scale = 45 : i64}> : (tensor<16xf32>) -> !pt
    %22 = "lwe.rlwe_encrypt"(%21, %arg5) : (!pt, !pkey_L1) -> !ct_L1
    %23 = "tensor.from_elements"(%22) : (!ct_L1) -> tensor<1x!ct_L1>
    "func.return"(%23) : (tensor<1x!ct_L1>) -> ()
  }) {heir.interface = {func_name = "differences", index = 1 : i64, roles = ["client.encrypt"]}} : () -> ()
  "func.func"() <{function_type = (tensor<1x!ct_L0>, !skey_L0) -> tensor<16xf32>, sym_name = "differences__decrypt__result0"}> ({
  ^bb0(%arg0: tensor<1x!ct_L0>, %arg1: !skey_L0):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "arith.constant"() <{value = 16 : i32}> : () -> i32
    %2 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %3 = "arith.constant"() <{value = 15 : i32}> : () -> i32
    %4 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %5 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<16xf32>}> : () -> tensor<16xf32>
    %6 = "tensor.extract"(%arg0, %0) : (tensor<1x!ct_L0>, index) -> !ct_L0
    %7 = "lwe.rlwe_decrypt"(%6, %arg1) : (!ct_L0, !skey_L0) -> !pt
    %8 = "lwe.rlwe_decode"(%7) <{encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x8192}> : (!pt) -> tensor<1x16xf32>
    %9 = "scf.for"(%4, %1, %2, %5) ({
    ^bb0(%arg2: i32, %arg3: tensor<16xf32>):
      %10 = "arith.subi"(%3, %arg2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %11 = "arith.index_cast"(%10) : (i32) -> index
      %12 = "tensor.extract"(%8, %0, %11) : (tensor<1x16xf32>, index, index) -> f32
      %13 = "tensor.insert"(%12, %arg3, %11) : (f32, tensor<16xf32>, index) -> tensor<16xf32>
      "scf.yield"(%13) : (tensor<16xf32>) -> ()
    }) : (i32, i32, i32, tensor<16xf32>) -> tensor<16xf32>
    "func.return"(%9) : (tensor<16xf32>) -> ()
  }) {heir.interface = {func_name = "differences", index = 0 : i64, roles = ["client.decrypt"]}} : () -> ()
}) {backend.lattigo, ckks.schemeParam = #ckks.scheme_param<logN = 13, Q = [36028797018652673, 35184372121601], P = [1152921504606994433], logDefaultScale = 45, encryptionTechnique = extended>, scheme.actual_slot_count = 4096 : i64, scheme.ckks, scheme.requested_slot_count = 16 : i64} : () -> ()

