//! Where everything lies, worked out the slow and plain way, sector by sector: what the crate is compared with.

use plimsoll_array::raid::{GroupSpec, Layout, Level};

/// What a sector of a member holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Data column `column` of a row.
    Data { column: u32 },
    /// P is 0, Q is 1.
    Parity { which: u32 },
}

/// Where a data sector lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    pub group: u16,
    /// The sector on the member.
    pub lba: u64,
    /// The row and the data column; column 0 where there is no parity.
    pub row: u64,
    pub column: u32,
}

/// A group's layout.
#[derive(Clone, Debug)]
pub struct Reference {
    pub spec: GroupSpec,
    pub groups: u16,
    pub members: u16,
    pub strip: u64,
    pub data: u32,
    pub parities: u32,
    pub member_sectors: u64,
    pub data_sectors: u64,
    chunk: u64,
}

impl Reference {
    pub fn new(spec: &GroupSpec, device_sectors: u64) -> Self {
        let parities = match spec.level {
            Level::Raid5 | Level::Raid50 => 1,
            Level::Raid6 | Level::Raid60 => 2,
            Level::Erasure => u32::from(spec.parities.unwrap_or(0)),
            _ => 0,
        };
        let groups = match spec.level {
            Level::Raid0 => spec.devices,
            Level::Raid10 => spec.groups.unwrap_or(spec.devices / 2),
            _ => spec.groups.unwrap_or(1),
        };
        let members = spec.devices / groups;
        let data = if parities == 0 { 1 } else { u32::from(members) - parities };
        let strip = u64::from(spec.strip_sectors);
        let whole_strips = device_sectors / strip * strip;
        let member_sectors = if spec.level == Level::Raid1 { device_sectors } else { whole_strips };
        let chunk = spec.outer_strip_sectors.map_or(strip * u64::from(data), u64::from);
        let per_group = member_sectors * u64::from(data);
        let data_sectors = if groups == 1 { per_group } else { per_group / chunk * chunk * u64::from(groups) };
        Self { spec: spec.clone(), groups, members, strip, data, parities, member_sectors, data_sectors, chunk }
    }

    pub fn home(&self, lba: u64) -> Home {
        let (group, inner) = if self.groups == 1 {
            (0, lba)
        } else {
            let chunk = lba / self.chunk;
            let groups = u64::from(self.groups);
            ((chunk % groups) as u16, chunk / groups * self.chunk + lba % self.chunk)
        };
        let strip = inner / self.strip;
        let row = strip / u64::from(self.data);
        let column = (strip % u64::from(self.data)) as u32;
        Home { group, lba: row * self.strip + inner % self.strip, row, column }
    }

    /// The data address of a data column at a sector of the members, if it is used.
    pub fn address(&self, group: u16, lba: u64, column: u32) -> Option<u64> {
        let row = lba / self.strip;
        let inner = (row * u64::from(self.data) + u64::from(column)) * self.strip + lba % self.strip;
        let address = if self.groups == 1 {
            inner
        } else {
            (inner / self.chunk * u64::from(self.groups) + u64::from(group)) * self.chunk + inner % self.chunk
        };
        (address < self.data_sectors).then_some(address)
    }

    /// What each member of a redundancy group holds in a row: parity is put down first, then data around it.
    pub fn row(&self, row: u64) -> Vec<Content> {
        let members = usize::from(self.members);
        if self.parities == 0 {
            return vec![Content::Data { column: 0 }; members];
        }
        let turn = (row % u64::from(self.members)) as usize;
        let (left, symmetric) = match self.spec.layout.unwrap_or_default() {
            Layout::LeftSymmetric => (true, true),
            Layout::LeftAsymmetric => (true, false),
            Layout::RightSymmetric => (false, true),
            Layout::RightAsymmetric => (false, false),
        };
        let p = if left { members - 1 - turn } else { turn };
        let mut positions = vec![None; members];
        for which in 0..self.parities {
            positions[(p + which as usize) % members] = Some(Content::Parity { which });
        }
        let begin = if symmetric { p + self.parities as usize } else { 0 };
        let mut columns = 0..;
        for step in 0..members {
            let position = &mut positions[(begin + step) % members];
            if position.is_none() {
                *position = columns.next().map(|column| Content::Data { column });
            }
        }
        positions.into_iter().map(|position| position.expect("every position is filled")).collect()
    }

    /// The members, counted through the group, that hold a data sector.
    pub fn devices(&self, home: Home) -> Vec<u16> {
        let row = self.row(home.row);
        let base = home.group * self.members;
        (0..self.members)
            .filter(|&position| row[usize::from(position)] == Content::Data { column: home.column })
            .map(|position| base + position)
            .collect()
    }
}
