//! The rows of each table, value by value, from the crate that draws them.

use std::io::Write as _;

use tpchgen::generators::{
    CustomerGenerator, LineItem, LineItemGenerator, NationGenerator, Order, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};

use crate::digits;
use crate::source::{Source, Values};

/// Which rows: part `part` of `parts`, as the crate counts.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    pub scale: f64,
    pub part: i32,
    pub parts: i32,
}

pub fn regions(source: &Source, values: &mut impl Values) {
    for row in RegionGenerator::new_with_distributions_and_text_pool(source.words, &source.text).iter() {
        values.number(row.r_regionkey);
        values.text(row.r_name);
        values.text(row.r_comment);
        values.end_row();
    }
}

pub fn nations(source: &Source, values: &mut impl Values) {
    for row in NationGenerator::new_with_distributions_and_text_pool(source.words, &source.text).iter() {
        values.number(row.n_nationkey);
        values.text(row.n_name);
        values.number(row.n_regionkey);
        values.text(row.n_comment);
        values.end_row();
    }
}

pub fn parts(source: &Source, place: Place, values: &mut impl Values) {
    let Place { scale, part, parts } = place;
    let drawn = PartGenerator::new_with_distributions_and_text_pool(scale, part, parts, source.words, &source.text);
    for row in drawn.iter() {
        values.number(row.p_partkey);
        shown(values, &row.p_name);
        shown(values, &row.p_mfgr);
        shown(values, &row.p_brand);
        values.text(row.p_type);
        values.number(row.p_size.into());
        values.text(row.p_container);
        values.hundredths(row.p_retailprice.into_inner());
        values.text(row.p_comment);
        values.end_row();
    }
}

pub fn suppliers(source: &Source, place: Place, values: &mut impl Values) {
    let Place { scale, part, parts } = place;
    let drawn = SupplierGenerator::new_with_distributions_and_text_pool(scale, part, parts, source.words, &source.text);
    for row in drawn.iter() {
        values.number(row.s_suppkey);
        numbered(values, b"Supplier#", row.s_suppkey);
        shown(values, &row.s_address);
        values.number(row.s_nationkey);
        shown(values, &row.s_phone);
        values.hundredths(row.s_acctbal.into_inner());
        values.text(&row.s_comment);
        values.end_row();
    }
}

pub fn part_suppliers(source: &Source, place: Place, values: &mut impl Values) {
    let Place { scale, part, parts } = place;
    for row in PartSuppGenerator::new_with_text_pool(scale, part, parts, &source.text).iter() {
        values.number(row.ps_partkey);
        values.number(row.ps_suppkey);
        values.number(row.ps_availqty.into());
        values.hundredths(row.ps_supplycost.into_inner());
        values.text(row.ps_comment);
        values.end_row();
    }
}

pub fn customers(source: &Source, place: Place, values: &mut impl Values) {
    let Place { scale, part, parts } = place;
    let drawn = CustomerGenerator::new_with_distributions_and_text_pool(scale, part, parts, source.words, &source.text);
    for row in drawn.iter() {
        values.number(row.c_custkey);
        numbered(values, b"Customer#", row.c_custkey);
        shown(values, &row.c_address);
        values.number(row.c_nationkey);
        shown(values, &row.c_phone);
        values.hundredths(row.c_acctbal.into_inner());
        values.text(row.c_mktsegment);
        values.text(row.c_comment);
        values.end_row();
    }
}

pub fn orders(source: &Source, place: Place, values: &mut impl Values) {
    drawn_orders(source, place).for_each(|row| order(&row, values));
}

pub fn line_items(source: &Source, place: Place, values: &mut impl Values) {
    drawn_line_items(source, place).for_each(|row| line_item(&row, values));
}

/// Orders, before anybody takes their values.
pub fn drawn_orders(source: &Source, place: Place) -> impl Iterator<Item = Order<'_>> {
    let Place { scale, part, parts } = place;
    OrderGenerator::new_with_distributions_and_text_pool(scale, part, parts, source.words, &source.text).iter()
}

/// Their items, likewise.
pub fn drawn_line_items(source: &Source, place: Place) -> impl Iterator<Item = LineItem<'_>> {
    let Place { scale, part, parts } = place;
    LineItemGenerator::new_with_distributions_and_text_pool(scale, part, parts, source.words, &source.text).iter()
}

pub fn order(row: &Order<'_>, values: &mut impl Values) {
    values.number(row.o_orderkey);
    values.number(row.o_custkey);
    values.text(row.o_orderstatus.as_str());
    values.hundredths(row.o_totalprice.into_inner());
    values.date(row.o_orderdate.to_unix_epoch());
    values.text(row.o_orderpriority);
    shown(values, &row.o_clerk);
    values.number(row.o_shippriority.into());
    values.text(row.o_comment);
    values.end_row();
}

pub fn line_item(row: &LineItem<'_>, values: &mut impl Values) {
    values.number(row.l_orderkey);
    values.number(row.l_partkey);
    values.number(row.l_suppkey);
    values.number(row.l_linenumber.into());
    values.whole(row.l_quantity);
    values.hundredths(row.l_extendedprice.into_inner());
    values.hundredths(row.l_discount.into_inner());
    values.hundredths(row.l_tax.into_inner());
    values.text(row.l_returnflag);
    values.text(row.l_linestatus);
    values.date(row.l_shipdate.to_unix_epoch());
    values.date(row.l_commitdate.to_unix_epoch());
    values.date(row.l_receiptdate.to_unix_epoch());
    values.text(row.l_shipinstruct);
    values.text(row.l_shipmode);
    values.text(row.l_comment);
    values.end_row();
}

/// A value that the crate only shows.
fn shown(values: &mut impl Values, value: &impl std::fmt::Display) {
    // Writing to memory does not fail.
    values.written(|out| drop(write!(out, "{value}")));
}

/// A name that is a number with zeros before it.
fn numbered(values: &mut impl Values, name: &[u8], number: i64) {
    values.written(|out| {
        out.extend_from_slice(name);
        digits::padded(out, number.unsigned_abs(), 9);
    });
}
