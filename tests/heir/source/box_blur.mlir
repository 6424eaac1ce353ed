func.func @box_blur(%image: tensor<1x1x8x8xf32> {secret.secret}) -> tensor<1x1x6x6xf32> {
  %box = arith.constant dense<0.111111112> : tensor<1x1x3x3xf32>
  %zero = arith.constant dense<0.0> : tensor<1x1x6x6xf32>
  %0 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%image, %box : tensor<1x1x8x8xf32>, tensor<1x1x3x3xf32>) outs(%zero : tensor<1x1x6x6xf32>) -> tensor<1x1x6x6xf32>
  return %0 : tensor<1x1x6x6xf32>
}
