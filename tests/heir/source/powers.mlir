func.func @powers(%x: tensor<16xf32> {secret.secret}, %w: tensor<16xf32>) -> tensor<16xf32> {
  %0 = arith.mulf %x, %x : tensor<16xf32>
  %1 = arith.mulf %0, %0 : tensor<16xf32>
  %2 = arith.mulf %1, %w : tensor<16xf32>
  %3 = arith.mulf %2, %2 : tensor<16xf32>
  %4 = arith.mulf %3, %3 : tensor<16xf32>
  %5 = arith.addf %4, %x : tensor<16xf32>
  return %5 : tensor<16xf32>
}
