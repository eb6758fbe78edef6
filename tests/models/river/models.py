"""The models of the tests of the parts, by the stream that they learn."""

from __future__ import annotations

from river import linear_model, optim, preprocessing

SS = preprocessing.StandardScaler
LR = linear_model.LogisticRegression

YES_OR_NO = {
    "LR": LR,
    "SS | LR": lambda: SS() | LR(),
    "no std | LR": lambda: SS(with_std=False) | LR(),
    "min max | LR": lambda: preprocessing.MinMaxScaler() | LR(),
    "max abs | LR": lambda: preprocessing.MaxAbsScaler() | LR(),
    "robust | LR": lambda: preprocessing.RobustScaler() | LR(),
    "adaptive | Perceptron": lambda: (
        preprocessing.AdaptiveStandardScaler() | linear_model.Perceptron()
    ),
    "two | hinge LR": lambda: SS() | preprocessing.MinMaxScaler() | LR(loss=optim.losses.Hinge()),
    "normalizer | LR": lambda: preprocessing.Normalizer() | LR(),
    "SS | PA": lambda: SS() | linear_model.PAClassifier(),
    "SS | ALMA": lambda: SS() | linear_model.ALMAClassifier(),
}

CLASSES = {
    "SS | Softmax": lambda: SS() | linear_model.SoftmaxRegression(),
}

NUMBERS = {
    "SS | LinReg": lambda: SS() | linear_model.LinearRegression(),
    "SS | Poisson": lambda: (
        SS() | linear_model.LinearRegression(optim.SGD(0.001), loss=optim.losses.Poisson())
    ),
    "SS | PAR": lambda: SS() | linear_model.PARegressor(),
    "SS | Bayesian": lambda: SS() | linear_model.BayesianLinearRegression(),
}

MIXED: dict[str, object] = {}
