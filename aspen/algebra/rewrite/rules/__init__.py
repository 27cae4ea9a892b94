"""The rules, one family per file.

| module | rules | what they need to know |
|---|---|---|
| fold | fold_filter, fold_project, fold_join, drop_true_filter | three-valued logic |
| filter_unary | merge_filters, filter_below_project, …_distinct, …_group | columns read |
| filter_union | filter_below_union | columns by position |
| filter_join | filter_into_join, residual_into_join_keys, filter_below_anti_join, anti_… | sides |
| filter_window | filter_below_range | what a window counts |
| filter_fixpoint | filter_into_fixpoint | columns the steps pass on unchanged |
| nonlinear | nonlinear_to_linear | whether a step composes two rows of its recursion |
| mutual | mutual_to_single | whether relations go on along edges to one another |
| linear | linear_other_way | whether a recursion is the closure of its base |
| demand | demand_by_constant, demand_by_join | `rewrite.adorn`, `rewrite.magic`, `rewrite.demand` |
| semi_join | semi_join_groups | `rewrite.demand`, and that the asking side is selected |
| prune | prune_columns, prune_partners | `rewrite.narrow`: who reads which column |
| distinct | distinct_of_set | which nodes give sets |
| apply_rows | apply_rows_alone, apply_below_… | `rewrite.dependent`: domains and their keys |
| apply_joins | apply_by_domain, …_by_conditions, apply_value_… | as above |
| join_order | join_order, matching_keys, narrow_above | which inputs an equality connects |
| project | merge_projects, drop_identity | expressions by column |
"""
