func.func @mlp(%x: tensor<64xf32> {secret.secret}, %w: tensor<16x64xf32>, %b: tensor<16xf32>, %v: tensor<10x16xf32>, %d: tensor<10xf32>) -> tensor<10xf32> {
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %0 = linalg.matvec ins(%w, %x : tensor<16x64xf32>, tensor<64xf32>) outs(%b : tensor<16xf32>) -> tensor<16xf32>
  %1 = arith.maximumf %0, %zero {domain_lower = -4.0 : f64, domain_upper = 4.0 : f64, degree = 5 : i32} : tensor<16xf32>
  %2 = linalg.matvec ins(%v, %1 : tensor<10x16xf32>, tensor<16xf32>) outs(%d : tensor<10xf32>) -> tensor<10xf32>
  return %2 : tensor<10xf32>
}
