func.func @dot_product(%x: tensor<8xf32> {secret.secret}, %y: tensor<8xf32> {secret.secret}) -> f32 {
  %bias = arith.constant dense<0.1> : tensor<f32>
  %0 = linalg.dot ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%bias : tensor<f32>) -> tensor<f32>
  %1 = tensor.extract %0[] : tensor<f32>
  return %1 : f32
}
