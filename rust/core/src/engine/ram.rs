//! How much memory there is for this process: the machine's, or what its control groups leave.

use std::fs::read_to_string;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

/// Where nothing tells how much memory there is.
const UNKNOWN: u64 = 4 << 30;

/// Bytes that this process may use at most, asked for once.
pub fn total() -> u64 {
    static TOTAL: OnceLock<u64> = OnceLock::new();
    *TOTAL.get_or_init(|| {
        let machine = read_to_string("/proc/meminfo").ok().and_then(|text| mem_total(&text));
        let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
        let limit = group_limit(Path::new("/sys/fs/cgroup"), &groups);
        machine.into_iter().chain(limit).min().unwrap_or(UNKNOWN)
    })
}

/// The machine's memory by `/proc/meminfo`.
fn mem_total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The least limit of the control groups in `/proc/self/cgroup` and those around them.
fn group_limit(root: &Path, groups: &str) -> Option<u64> {
    groups.lines().filter_map(|line| limit_of(root, line)).min()
}

fn limit_of(root: &Path, line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    let (base, file) = match controllers {
        "" => (root.to_path_buf(), "memory.max"),
        names if names.split(',').any(|name| name == "memory") => {
            (root.join("memory"), "memory.limit_in_bytes")
        }
        _ => return None,
    };
    // A container may see its group as the root, or by a path that leads out of what it sees.
    let inside = |part: &Component<'_>| matches!(part, Component::Normal(_));
    let path: PathBuf = Path::new(path).components().filter(inside).collect();
    let limit = |dir: &Path| read_to_string(base.join(dir).join(file)).ok()?.trim().parse().ok();
    path.ancestors().filter_map(limit).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_memory() {
        assert!(total() > 1 << 20);
    }

    #[test]
    fn the_machine_tells_in_kilobytes() {
        assert_eq!(mem_total("MemFree: 1 kB\nMemTotal:   2048 kB\n"), Some(2 << 20));
        assert_eq!(mem_total("nothing"), None);
    }

    #[test]
    fn the_least_limit_of_a_group_and_those_around_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        assert_eq!(group_limit(root, "0::/a/b\n"), None);
        put("a/b/memory.max", "max\n");
        assert_eq!(group_limit(root, "0::/a/b\n"), None);
        put("a/memory.max", "5000\n");
        assert_eq!(group_limit(root, "0::/a/b\n"), Some(5000));
        put("a/b/memory.max", "4000\n");
        assert_eq!(group_limit(root, "0::/a/b\n"), Some(4000));
        // The first version has a tree for each controller.
        put("memory/docker/x/memory.limit_in_bytes", "9223372036854771712\n");
        put("memory/memory.limit_in_bytes", "3000\n");
        let first = "12:cpu,cpuacct:/y\n4:memory:/docker/x\n";
        assert_eq!(group_limit(root, first), Some(3000));
        put("memory.max", "2000\n");
        assert_eq!(group_limit(root, "0::/../../c\n"), Some(2000));
    }
}
