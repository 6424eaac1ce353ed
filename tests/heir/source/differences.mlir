func.func @differences(%x: tensor<16xf32> {secret.secret}, %y: tensor<16xf32> {secret.secret}, %w: tensor<16xf32>) -> tensor<16xf32> {
  %0 = arith.subf %x, %y : tensor<16xf32>
  %1 = arith.subf %w, %0 : tensor<16xf32>
  %2 = arith.subf %0, %w : tensor<16xf32>
  %3 = arith.mulf %1, %2 : tensor<16xf32>
  %4 = arith.negf %3 : tensor<16xf32>
  return %4 : tensor<16xf32>
}
