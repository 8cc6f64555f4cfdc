//! The eight tables and their columns, declared once.

use serde::Serialize;

use crate::error::DataError;
use crate::scale::{self, Scale};

/// A table, in the order in which foreign keys allow loading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// Five regions of the world.
    Region,
    /// 25 nations.
    Nation,
    /// What can be bought.
    Part,
    /// Who sells.
    Supplier,
    /// Who sells what: four suppliers for each part.
    PartSupp,
    /// Who buys.
    Customer,
    /// What customers ordered.
    Orders,
    /// The items of orders, one to seven each.
    LineItem,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A key: 64 bits.
    Key,
    /// A number: 32 bits.
    Number,
    /// 15 digits, two of them behind the point.
    Decimal,
    /// A day.
    Date,
    /// Text of always so many characters, padded by engines that pad.
    Fixed(u16),
    /// Text of at most so many characters.
    Varying(u16),
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
}

/// Columns whose values are keys of another table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ForeignKey {
    /// The columns that refer.
    pub columns: &'static [&'static str],
    /// The table they refer to, by its primary key.
    pub table: &'static str,
}

impl Kind {
    /// The type in SQL.
    #[must_use]
    pub fn sql(self) -> String {
        match self {
            Self::Key => "bigint".into(),
            Self::Number => "integer".into(),
            Self::Decimal => "decimal(15,2)".into(),
            Self::Date => "date".into(),
            Self::Fixed(width) => format!("char({width})"),
            Self::Varying(width) => format!("varchar({width})"),
        }
    }
}

impl Table {
    /// All of them, in the order in which foreign keys allow loading.
    pub const ALL: [Self; 8] = [
        Self::Region,
        Self::Nation,
        Self::Part,
        Self::Supplier,
        Self::PartSupp,
        Self::Customer,
        Self::Orders,
        Self::LineItem,
    ];

    /// The name that queries use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Region => "region",
            Self::Nation => "nation",
            Self::Part => "part",
            Self::Supplier => "supplier",
            Self::PartSupp => "partsupp",
            Self::Customer => "customer",
            Self::Orders => "orders",
            Self::LineItem => "lineitem",
        }
    }

    /// All names.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        Self::ALL.map(Self::name).to_vec()
    }

    /// The table of that name.
    pub fn named(name: &str) -> Result<Self, DataError> {
        Self::ALL
            .into_iter()
            .find(|table| table.name() == name)
            .ok_or_else(|| DataError::Table { name: name.into(), known: Self::names().join(", ") })
    }

    /// What tells its rows apart.
    #[must_use]
    pub const fn primary_key(self) -> &'static [&'static str] {
        match self {
            Self::Region => &["r_regionkey"],
            Self::Nation => &["n_nationkey"],
            Self::Part => &["p_partkey"],
            Self::Supplier => &["s_suppkey"],
            Self::PartSupp => &["ps_partkey", "ps_suppkey"],
            Self::Customer => &["c_custkey"],
            Self::Orders => &["o_orderkey"],
            Self::LineItem => &["l_orderkey", "l_linenumber"],
        }
    }

    /// What its rows refer to.
    #[must_use]
    pub const fn foreign_keys(self) -> &'static [ForeignKey] {
        match self {
            Self::Region | Self::Part => &[],
            Self::Nation => &[ForeignKey { columns: &["n_regionkey"], table: "region" }],
            Self::Supplier => &[ForeignKey { columns: &["s_nationkey"], table: "nation" }],
            Self::PartSupp => &[
                ForeignKey { columns: &["ps_partkey"], table: "part" },
                ForeignKey { columns: &["ps_suppkey"], table: "supplier" },
            ],
            Self::Customer => &[ForeignKey { columns: &["c_nationkey"], table: "nation" }],
            Self::Orders => &[ForeignKey { columns: &["o_custkey"], table: "customer" }],
            Self::LineItem => &[
                ForeignKey { columns: &["l_orderkey"], table: "orders" },
                ForeignKey { columns: &["l_partkey", "l_suppkey"], table: "partsupp" },
            ],
        }
    }

    /// Its columns, in the order of its rows.
    #[must_use]
    pub const fn columns(self) -> &'static [Column] {
        match self {
            Self::Region => REGION,
            Self::Nation => NATION,
            Self::Part => PART,
            Self::Supplier => SUPPLIER,
            Self::PartSupp => PARTSUPP,
            Self::Customer => CUSTOMER,
            Self::Orders => ORDERS,
            Self::LineItem => LINEITEM,
        }
    }

    /// How many things its rows are drawn for: parts for `partsupp` (four rows each), orders for `lineitem` (one to seven).
    pub(crate) fn origins(self, scale: Scale) -> u64 {
        match self {
            Self::Region => 5,
            Self::Nation => 25,
            Self::Part | Self::PartSupp => scale.of(scale::PARTS),
            Self::Supplier => scale.of(scale::SUPPLIERS),
            Self::Customer => scale.of(scale::CUSTOMERS),
            Self::Orders | Self::LineItem => scale.of(scale::ORDERS),
        }
    }

    /// So many origins make a chunk: about a megabyte of text, and a divisor of the number at whole scales.
    pub(crate) const fn origins_per_chunk(self) -> u64 {
        match self {
            Self::LineItem | Self::PartSupp => 2_000,
            _ => 5_000,
        }
    }
}

const fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind }
}

const REGION: &[Column] =
    &[column("r_regionkey", Kind::Key), column("r_name", Kind::Fixed(25)), column("r_comment", Kind::Varying(152))];

const NATION: &[Column] = &[
    column("n_nationkey", Kind::Key),
    column("n_name", Kind::Fixed(25)),
    column("n_regionkey", Kind::Key),
    column("n_comment", Kind::Varying(152)),
];

const PART: &[Column] = &[
    column("p_partkey", Kind::Key),
    column("p_name", Kind::Varying(55)),
    column("p_mfgr", Kind::Fixed(25)),
    column("p_brand", Kind::Fixed(10)),
    column("p_type", Kind::Varying(25)),
    column("p_size", Kind::Number),
    column("p_container", Kind::Fixed(10)),
    column("p_retailprice", Kind::Decimal),
    column("p_comment", Kind::Varying(23)),
];

const SUPPLIER: &[Column] = &[
    column("s_suppkey", Kind::Key),
    column("s_name", Kind::Fixed(25)),
    column("s_address", Kind::Varying(40)),
    column("s_nationkey", Kind::Key),
    column("s_phone", Kind::Fixed(15)),
    column("s_acctbal", Kind::Decimal),
    column("s_comment", Kind::Varying(101)),
];

const PARTSUPP: &[Column] = &[
    column("ps_partkey", Kind::Key),
    column("ps_suppkey", Kind::Key),
    column("ps_availqty", Kind::Number),
    column("ps_supplycost", Kind::Decimal),
    column("ps_comment", Kind::Varying(199)),
];

const CUSTOMER: &[Column] = &[
    column("c_custkey", Kind::Key),
    column("c_name", Kind::Varying(25)),
    column("c_address", Kind::Varying(40)),
    column("c_nationkey", Kind::Key),
    column("c_phone", Kind::Fixed(15)),
    column("c_acctbal", Kind::Decimal),
    column("c_mktsegment", Kind::Fixed(10)),
    column("c_comment", Kind::Varying(117)),
];

const ORDERS: &[Column] = &[
    column("o_orderkey", Kind::Key),
    column("o_custkey", Kind::Key),
    column("o_orderstatus", Kind::Fixed(1)),
    column("o_totalprice", Kind::Decimal),
    column("o_orderdate", Kind::Date),
    column("o_orderpriority", Kind::Fixed(15)),
    column("o_clerk", Kind::Fixed(15)),
    column("o_shippriority", Kind::Number),
    column("o_comment", Kind::Varying(79)),
];

const LINEITEM: &[Column] = &[
    column("l_orderkey", Kind::Key),
    column("l_partkey", Kind::Key),
    column("l_suppkey", Kind::Key),
    column("l_linenumber", Kind::Number),
    column("l_quantity", Kind::Decimal),
    column("l_extendedprice", Kind::Decimal),
    column("l_discount", Kind::Decimal),
    column("l_tax", Kind::Decimal),
    column("l_returnflag", Kind::Fixed(1)),
    column("l_linestatus", Kind::Fixed(1)),
    column("l_shipdate", Kind::Date),
    column("l_commitdate", Kind::Date),
    column("l_receiptdate", Kind::Date),
    column("l_shipinstruct", Kind::Fixed(25)),
    column("l_shipmode", Kind::Fixed(10)),
    column("l_comment", Kind::Varying(44)),
];
