"""The models that the walk serves, in small."""

from __future__ import annotations

from river import ensemble, forest, linear_model, preprocessing, tree
from river.tree import splitter
from river.tree.nodes import htc_nodes, htr_nodes

_GROWING = {"grace_period": 30, "delta": 0.05, "tau": 0.2}


def ht(**settings):
    return tree.HoeffdingTreeClassifier(**{**_GROWING, **settings})


def hat(**settings):
    return tree.HoeffdingAdaptiveTreeClassifier(
        **{**_GROWING, "seed": 1, "drift_window_threshold": 150, **settings}
    )


def efdt(**settings):
    return tree.ExtremelyFastDecisionTreeClassifier(
        **{**_GROWING, "min_samples_reevaluate": 100, **settings}
    )


def arf(**settings):
    return forest.ARFClassifier(**{"n_models": 4, "seed": 1, **settings})


def srp(**settings):
    return ensemble.SRPClassifier(ht(), **{"n_models": 4, "seed": 1, **settings})


def amf(**settings):
    return forest.AMFClassifier(**{"n_estimators": 3, "seed": 1, **settings})


def htr(**settings):
    return tree.HoeffdingTreeRegressor(**{**_GROWING, **settings})


def hatr(**settings):
    return tree.HoeffdingAdaptiveTreeRegressor(
        **{**_GROWING, "seed": 1, "drift_window_threshold": 150, **settings}
    )


def arfr(**settings):
    return forest.ARFRegressor(**{"n_models": 4, "seed": 1, **settings})


def scaled(model, scaler=preprocessing.StandardScaler):
    return scaler() | model


CLASSIFIERS = {
    "HT mc": lambda: ht(leaf_prediction="mc"),
    "HT nb": lambda: ht(leaf_prediction="nb", nb_threshold=20),
    "HT nba": ht,
    "HT small": lambda: ht(max_size=0.03, memory_estimate_period=100, max_depth=3),
    "HAT mc": lambda: hat(leaf_prediction="mc"),
    "HAT nb": lambda: hat(leaf_prediction="nb", nb_threshold=20),
    "HAT nba": hat,
    "EFDT mc": lambda: efdt(leaf_prediction="mc"),
    "EFDT nb": lambda: efdt(leaf_prediction="nb"),
    "EFDT nba": efdt,
    "ARF mc": lambda: arf(leaf_prediction="mc"),
    "ARF nb": lambda: arf(leaf_prediction="nb", disable_weighted_vote=True),
    "ARF nba": arf,
    "Bagging HAT": lambda: ensemble.BaggingClassifier(hat(), n_models=3, seed=1),
    "LeveragingBagging HT": lambda: ensemble.LeveragingBaggingClassifier(ht(), n_models=3, seed=1),
    "ADWINBagging EFDT": lambda: ensemble.ADWINBaggingClassifier(efdt(), n_models=3, seed=1),
    "AdaBoost HT": lambda: ensemble.AdaBoostClassifier(ht(), n_models=3, seed=1),
    "BOLE HT": lambda: ensemble.BOLEClassifier(ht(), n_models=3, seed=1),
    "ADWINBoosting HT": lambda: ensemble.ADWINBoostingClassifier(ht(), n_models=3, seed=1),
    "SRP": srp,
    "SRP subspaces": lambda: srp(training_method="subspaces", disable_weighted_vote=True),
    "SRP resampling": lambda: srp(training_method="resampling"),
    "AMF": amf,
    "AMF leaves": lambda: amf(use_aggregation=False),
}

# Each of these has a point in the streams that are not all numbers, or not all there.
MIXED = {
    "HT mc": lambda: ht(leaf_prediction="mc"),
    "HT nba": ht,
    "HT binary": lambda: ht(binary_split=True),
    "HAT nba": hat,
    "EFDT nba": efdt,
    "ARF nba": arf,
    "Bagging HAT": lambda: ensemble.BaggingClassifier(hat(), n_models=3, seed=1),
    "SRP": srp,
}

SPLITTERS = {
    "histogram": lambda: ht(splitter=splitter.HistogramSplitter()),
    "exhaustive": lambda: ht(splitter=splitter.ExhaustiveSplitter()),
}

PIPELINES = {
    "standard | HT": lambda: scaled(ht()),
    "min max | HAT": lambda: scaled(hat(), preprocessing.MinMaxScaler),
    "max abs | EFDT": lambda: scaled(efdt(), preprocessing.MaxAbsScaler),
    "robust | ARF": lambda: scaled(arf(), preprocessing.RobustScaler),
    "adaptive | HT": lambda: scaled(ht(), preprocessing.AdaptiveStandardScaler),
    "no std | SRP": lambda: preprocessing.StandardScaler(with_std=False) | srp(),
    "two | Bagging": lambda: (
        preprocessing.MinMaxScaler()
        | preprocessing.StandardScaler()
        | ensemble.BaggingClassifier(hat(), n_models=3, seed=1)
    ),
    "min max | AMF": lambda: scaled(amf(), preprocessing.MinMaxScaler),
}

REGRESSORS = {
    "HTR mean": lambda: htr(leaf_prediction="mean"),
    "HTR model": lambda: htr(leaf_prediction="model"),
    "HTR adaptive": htr,
    "HATR mean": lambda: hatr(leaf_prediction="mean"),
    "HATR model": lambda: hatr(leaf_prediction="model"),
    "HATR adaptive": hatr,
    "ARFR mean": lambda: arfr(leaf_prediction="mean", aggregation_method="mean"),
    "ARFR model": lambda: arfr(leaf_prediction="model", disable_weighted_vote=True),
    "ARFR adaptive": arfr,
    "ARFR average": lambda: arfr(aggregation_method="mean"),
    "standard | HTR": lambda: scaled(htr()),
    "min max | HATR": lambda: scaled(hatr(), preprocessing.MinMaxScaler),
    "standard | ARFR": lambda: scaled(arfr()),
    "HTR other model": lambda: htr(leaf_model=linear_model.PARegressor()),
}


class FlattenedLeaf(htc_nodes.LeafNaiveBayesAdaptive):
    """Says something of its own."""

    def prediction(self, x, *, tree=None):
        said = super().prediction(x, tree=tree)
        return {label: 0.1 + 0.8 * share for label, share in said.items()}


class FlattenedMajority(htc_nodes.LeafMajorityClass):
    def prediction(self, x, *, tree=None):
        said = super().prediction(x, tree=tree)
        return {label: 0.1 + 0.8 * share for label, share in said.items()}


class HiddenLeaf(htc_nodes.LeafNaiveBayesAdaptive, FlattenedMajority):
    """Has river's own prediction, which passes the question on to one that is not river's."""


class IdleLeaf(htc_nodes.LeafNaiveBayesAdaptive):
    """Is idle now and then."""

    def is_active(self):
        return super().is_active() and self.total_weight % 3 > 0


class RoundedLeaf(htr_nodes.LeafMean):
    def prediction(self, x, *, tree=None):
        return round(super().prediction(x, tree=tree), 1)


class Grower(tree.HoeffdingTreeClassifier):
    """Grows leaves of another class."""

    def __init__(self, kind=None, **settings):
        super().__init__(grace_period=30, delta=0.05, tau=0.2, **settings)
        self.kind = kind

    def _new_leaf(self, initial_stats=None, parent=None):
        leaf = super()._new_leaf(initial_stats, parent)
        leaf.__class__ = self.kind
        return leaf


class RegressorGrower(tree.HoeffdingTreeRegressor):
    def _new_leaf(self, initial_stats=None, parent=None):
        leaf = super()._new_leaf(initial_stats, parent)
        leaf.__class__ = RoundedLeaf
        return leaf
