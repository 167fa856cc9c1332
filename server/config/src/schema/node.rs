//! Nodes.

use super::field::{Field, GoType, Shape, Table, field};
use super::kind::seen;
use super::look::On;
use super::show::Within;
use proconsul_store::{NewNode, NodeRow};
use proconsul_version::Behaviour;

impl Shape for NewNode {
    const SERVER: GoType = GoType::plain("structs.RegisterRequest");
    const CLIENT: GoType = GoType::plain("api.Node");
}

impl Table for NewNode {
    const FIELDS: &'static [Field<Self>] = &[
        field!(NewNode, "ID", id).of_type(Some("types.NodeID"), None),
        field!(NewNode, "Node", node),
        field!(NewNode, "Address", address),
        field!(NewNode, "Datacenter", datacenter),
        field!(NewNode, "TaggedAddresses", tagged_addresses),
        field!(NewNode, "Meta", meta).on(On::ALL.but(On::CATALOG_BODY)),
        field!(NewNode, "NodeMeta", meta).on(On::CATALOG_BODY),
        field!(NewNode, "Locality", locality)
            .since(Behaviour::JsonLocality)
            .omitempty()
            .unselected(),
    ];
}

impl Table for NodeRow {
    const FIELDS: &'static [Field<Self>] = &[
        Field::flat(&Within::<NodeRow, NewNode> {
            get: |row| &row.node,
            prefixed: false,
        }),
        seen!(NodeRow, "CreateIndex", |row| &row.create_index.0).unselected(),
        seen!(NodeRow, "ModifyIndex", |row| &row.modify_index.0).unselected(),
    ];
}
