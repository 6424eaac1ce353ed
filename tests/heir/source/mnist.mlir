func.func @mnist(%image: tensor<784xf32> {secret.secret}, %w: tensor<512x784xf32>, %b: tensor<512xf32>) -> tensor<512xf32> {
  %0 = linalg.matvec ins(%w, %image : tensor<512x784xf32>, tensor<784xf32>) outs(%b : tensor<512xf32>) -> tensor<512xf32>
  return %0 : tensor<512xf32>
}
