"""Writes the data of the example `logistic_regression`.

Run by hand, in the root of the repository, with NumPy and scikit-learn (2.4.6 and 1.9.1 wrote the committed file):

    python3 he/test-client/data/cancer.py

The data are scikit-learn's `load_breast_cancer`: "Breast Cancer Wisconsin (Diagnostic)" (W. Wolberg, O. Mangasarian, N. Street
and W. Street, UCI Machine Learning Repository, 1993, CC BY 4.0). The ten means of its features have mean 0 and standard
deviation 1, and are cut off at 2.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer

data = load_breast_cancer()
means = data.data[:, :10]
features = np.clip((means - means.mean(0)) / means.std(0), -2, 2)
with open("he/test-client/data/cancer.csv", "w", encoding="utf-8") as file:
    file.write("# Written by cancer.py: 1 for a benign tumour or -1, and ten features in units of 1/100.\n")
    for row, label in zip(np.round(100 * features).astype(int), data.target):
        file.write(",".join(map(str, [2 * label - 1, *row])) + "\n")
