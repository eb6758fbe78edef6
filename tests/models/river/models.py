"""The models of the tests of the parts, by the stream that they learn."""

from __future__ import annotations

from river import (
    compose,
    drift,
    ensemble,
    feature_extraction,
    feature_selection,
    imblearn,
    linear_model,
    multiclass,
    naive_bayes,
    optim,
    preprocessing,
    stats,
)
from tests.models.trees.models import arf, hat, ht, htr

SS = preprocessing.StandardScaler
LR = linear_model.LogisticRegression
NB = naive_bayes.GaussianNB


def bagging(model):
    return ensemble.BaggingClassifier(model, n_models=3, seed=1)


def with_sum(x):
    return {**x, "sum": sum(x.values())}


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
    "binarizer | LR": lambda: preprocessing.Binarizer(threshold=0.4) | LR(),
    "function | SS | HT": lambda: compose.FuncTransformer(with_sum) | SS() | ht(),
    "SS | PA": lambda: SS() | linear_model.PAClassifier(),
    "SS | ALMA": lambda: SS() | linear_model.ALMAClassifier(),
    "discard | SS | LR": lambda: compose.Discard("day", "nswprice") | SS() | LR(),
    "discard | HT": lambda: compose.Discard("day", "nswprice") | ht(),
    "variance | SS | LR": lambda: feature_selection.VarianceThreshold() | SS() | LR(),
    "best | SS | LR": lambda: feature_selection.SelectKBest(stats.PearsonCorr(), k=4) | SS() | LR(),
    "types + prefixed | LR": lambda: (
        (compose.SelectType(float) | SS()) + (compose.SelectType(int) | compose.Prefixer("whole "))
        | LR()
    ),
    "renamed | suffixed | HT": lambda: (
        compose.Renamer({"day": "weekday"}) | compose.Suffixer("!") | ht()
    ),
    "both + scaled | LR": lambda: compose.Discard("day") + SS() | LR(),
    "NB": NB,
    "SS | NB": lambda: SS() | NB(),
    "poly | NB": lambda: feature_extraction.PolynomialExtender(interaction_only=True) | NB(),
    "Bagging (SS | LR)": lambda: bagging(SS() | LR()),
    "AdaBoost NB": lambda: ensemble.AdaBoostClassifier(NB(), n_models=3, seed=1),
    "BOLE (SS | LR)": lambda: ensemble.BOLEClassifier(SS() | LR(), n_models=3, seed=1),
    "LeveragingBagging NB": lambda: ensemble.LeveragingBaggingClassifier(NB(), n_models=3, seed=1),
    "Stacking": lambda: ensemble.StackingClassifier([SS() | LR(), ht(), NB()], LR()),
    "Stacking alone": lambda: ensemble.StackingClassifier(
        [SS() | LR(), NB()], LR(), include_features=False
    ),
    "retraining HT": lambda: drift.DriftRetrainingClassifier(ht(), drift.binary.DDM()),
    "SS | undersampler": lambda: (
        SS() | imblearn.RandomUnderSampler(LR(), desired_dist={False: 0.5, True: 0.5}, seed=1)
    ),
}

CLASSES = {
    "SS | Softmax": lambda: SS() | linear_model.SoftmaxRegression(),
    "SS | OneVsRest": lambda: SS() | multiclass.OneVsRestClassifier(LR()),
    "NB": NB,
    "select | NB": lambda: compose.Select("a", "c", "e") | NB(),
    "select | ARF": lambda: compose.Select("a", "c", "e") | arf(),
    "Bagging NB": lambda: bagging(NB()),
    "Bagging (SS | HT)": lambda: bagging(SS() | ht()),
    "Stacking": lambda: ensemble.StackingClassifier([ht(), NB()], linear_model.SoftmaxRegression()),
}

NUMBERS = {
    "SS | LinReg": lambda: SS() | linear_model.LinearRegression(),
    "SS | Poisson": lambda: (
        SS() | linear_model.LinearRegression(optim.SGD(0.001), loss=optim.losses.Poisson())
    ),
    "SS | PAR": lambda: SS() | linear_model.PARegressor(),
    "select | HTR": lambda: compose.Select("a", "k") | htr(),
    "Bagging (SS | LinReg)": lambda: ensemble.BaggingRegressor(
        SS() | linear_model.LinearRegression(), n_models=3, seed=1
    ),
    "SS | EWA": lambda: (
        SS()
        | ensemble.EWARegressor(
            [linear_model.LinearRegression(optim.SGD(rate)) for rate in (0.01, 0.001)]
        )
    ),
}

# Older rivers keep its means in another way, which is not known.
if hasattr(linear_model.BayesianLinearRegression(), "_idx"):
    NUMBERS["SS | Bayesian"] = lambda: SS() | linear_model.BayesianLinearRegression()


def numbers_and_categories():
    numbers = compose.SelectType(int, float) | SS()
    return numbers + (compose.SelectType(str) | preprocessing.OneHotEncoder())


MIXED = {
    "numbers + one-hot | LR": lambda: numbers_and_categories() | LR(),
    "numbers + one-hot | HT": lambda: numbers_and_categories() | ht(),
    "numbers + one-hot | HAT": lambda: numbers_and_categories() | hat(),
    "numbers + one-hot | ARF": lambda: numbers_and_categories() | arf(),
    "numbers + one-hot | SS | Bagging HT": lambda: numbers_and_categories() | SS() | bagging(ht()),
    "one-hot without zeros | HT": lambda: preprocessing.OneHotEncoder(drop_zeros=True) | ht(),
    "one-hot | SS | NB": lambda: (
        compose.SelectType(str) | preprocessing.OneHotEncoder() | SS() | NB()
    ),
    "one-hot + mean by car | HT": lambda: (
        (compose.SelectType(str) | preprocessing.OneHotEncoder())
        + feature_extraction.TargetAgg(by="car", how=stats.Mean())
        | ht()
    ),
    "one-hot without zeros | LR": lambda: (
        compose.Select("car", "elevel") | preprocessing.OneHotEncoder(drop_zeros=True) | LR()
    ),
    "one-hot | LR": lambda: preprocessing.OneHotEncoder() | LR(),
    "one-hot without the first | LR": lambda: (
        compose.SelectType(str) | preprocessing.OneHotEncoder(drop_first=True) | LR()
    ),
    "ordinal | HT": lambda: preprocessing.OrdinalEncoder() | ht(),
    "ordinal | ARF": lambda: preprocessing.OrdinalEncoder() | arf(),
    "numbers + ordinal | SS | NB": lambda: (
        compose.SelectType(int, float) + (compose.SelectType(str) | preprocessing.OrdinalEncoder())
        | SS()
        | NB()
    ),
    "numbers + mean by car | HT": lambda: (
        compose.Select("salary", "age") + feature_extraction.TargetAgg(by="car", how=stats.Mean())
        | ht()
    ),
    "mean by car and level | SS | LR": lambda: (
        compose.Select("salary", "age")
        + feature_extraction.TargetAgg(by=["car", "elevel"], how=stats.BayesianMean(0.5, 5))
        | SS()
        | LR()
    ),
    "hasher | HT": lambda: preprocessing.FeatureHasher(n_features=16, seed=1) | ht(),
    "imputer | one-hot | LR": lambda: (
        preprocessing.StatImputer(("car", stats.Mode()), ("salary", stats.Mean()))
        | (compose.SelectType(str) | preprocessing.OneHotEncoder())
        + (compose.SelectType(int, float) | SS())
        | LR()
    ),
    "previous | ordinal | HT": lambda: (
        preprocessing.PreviousImputer() | preprocessing.OrdinalEncoder() | ht()
    ),
}
