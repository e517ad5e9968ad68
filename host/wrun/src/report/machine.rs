//! The machine a report is of: where wrun itself runs.

use std::fs;

use rustix::system::uname;

use super::data::Machine;

impl Machine {
    /// This one, with the cores that this process may use.
    pub fn here() -> Self {
        let name = uname();
        let online = fs::read_to_string("/sys/devices/system/cpu/online").ok().and_then(|list| cores(list.trim()));
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let allowed = allowed.and_then(|list| cores(list.trim()));
        let parallel = || std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            os: std::env::consts::OS.to_owned(),
            kernel: name.release().to_string_lossy().into_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            cores: u32::try_from(online.as_ref().map_or_else(parallel, Vec::len)).unwrap_or(u32::MAX),
            // The allowed list may name cores that the machine does not have.
            pinned: allowed.filter(|allowed| {
                online.as_ref().is_some_and(|online| !online.iter().all(|core| allowed.contains(core)))
            }),
        }
    }
}

/// The cores of a list as the kernel writes it: `0,2-3`.
fn cores(list: &str) -> Option<Vec<u32>> {
    /// No kernel has more, and a range in a list can then not fill memory.
    const MOST: u32 = 1 << 16;
    let mut cores = Vec::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        cores.extend(first..=last.min(MOST));
    }
    Some(cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores_are_read_as_the_kernel_writes_them() {
        assert_eq!(cores("0"), Some(vec![0]));
        assert_eq!(cores("0,2-4"), Some(vec![0, 2, 3, 4]));
        assert_eq!(cores(""), None);
        assert_eq!(cores("0-x"), None);
    }

    #[test]
    fn this_machine_has_a_core_and_a_name() {
        let machine = Machine::here();
        assert!(machine.cores >= 1 && !machine.os.is_empty() && !machine.arch.is_empty());
    }
}
