-- The nine TPC-H forms of the seeds' optimizer experiments, one statement each.
-- Q1
SELECT l_returnflag, l_linestatus, SUM(l_quantity) AS sum_qty, SUM(l_extendedprice) AS
sum_base_price, SUM(l_extendedprice * (1 - l_discount)) AS sum_disc_price, SUM(l_extendedprice *
(1 - l_discount) * (1 + l_tax)) AS sum_charge, AVG(l_quantity) AS avg_qty, AVG(l_extendedprice)
AS avg_price, AVG(l_discount) AS avg_disc, COUNT(*) AS count_order FROM lineitem WHERE l_shipdate
<= '1998-09-01' GROUP BY l_returnflag, l_linestatus;

-- Q3
SELECT l_orderkey, SUM(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate,
o_shippriority FROM customer, orders, lineitem WHERE c_mktsegment = 'MACHINERY' AND c_custkey =
o_custkey AND l_orderkey = o_orderkey AND o_orderdate < '1995-03-15' AND l_shipdate >
'1995-03-15' GROUP BY l_orderkey, o_orderdate, o_shippriority;

-- Q3S
SELECT l_orderkey, o_orderdate, o_shippriority FROM customer, orders, lineitem WHERE c_mktsegment
= 'MACHINERY' AND c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate <
'1995-03-15' AND l_shipdate > '1995-03-15';

-- Q5
SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM customer, orders,
lineitem, supplier, nation, region WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND
l_suppkey = s_suppkey AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey
= r_regionkey AND r_name = 'AMERICA' AND o_orderdate >= '1993-01-01' AND o_orderdate <
'1994-01-01' GROUP BY n_name;

-- Q5S
SELECT n_name, l_extendedprice * (1 - l_discount) AS price FROM customer, orders, lineitem,
supplier, nation, region WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey =
s_suppkey AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey =
r_regionkey AND r_name = 'AMERICA' AND o_orderdate >= '1993-01-01' AND o_orderdate <
'1994-01-01';

-- Q6
SELECT SUM(l_extendedprice * l_discount) AS revenue FROM lineitem WHERE l_shipdate >=
'1994-01-01' AND l_shipdate < '1995-01-01' AND l_discount >= 0.06 - 0.01 AND l_discount <= 0.06 +
0.01 AND l_quantity < 24.2;

-- Q10
SELECT c_custkey, c_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue, c_acctbal, n_name,
c_address, c_phone, c_comment FROM customer, orders, lineitem, nation WHERE c_custkey = o_custkey
AND l_orderkey = o_orderkey AND o_orderdate >= '1993-06-01' AND o_orderdate < '1993-09-01' AND
l_returnflag = 'R' AND c_nationkey = n_nationkey GROUP BY c_custkey, c_name, c_acctbal, c_phone,
n_name, c_address, c_comment;

-- Q8Join
SELECT c_name, p_name, ps_availqty, s_name, o_custkey, r_name, n_name, SUM(l_extendedprice * (1 -
l_discount)) AS revenue FROM orders, lineitem, customer, part, partsupp, supplier, nation, region
WHERE o_orderkey = l_orderkey AND c_custkey = o_custkey AND p_partkey = l_partkey AND ps_partkey
= p_partkey AND s_suppkey = ps_suppkey AND r_regionkey = n_regionkey AND s_nationkey =
n_nationkey GROUP BY c_name, p_name, ps_availqty, s_name, o_custkey, r_name, n_name;

-- Q8JoinS
SELECT c_name, p_name, ps_availqty, s_name, o_custkey, r_name, n_name FROM orders, lineitem,
customer, part, partsupp, supplier, nation, region WHERE o_orderkey = l_orderkey AND c_custkey =
o_custkey AND p_partkey = l_partkey AND ps_partkey = p_partkey AND s_suppkey = ps_suppkey AND
r_regionkey = n_regionkey AND s_nationkey = n_nationkey
