//! Which of several servers holds a key: ketama, placed as libmemcached places it.
//!
//! Every server has points on a circle of 32 bits, which are hashes of its name and the point's number; a key is held by
//! the server of the first point at or after the key's own hash. A server that is added or taken away moves only its share
//! of the keys.
//!
//! libmemcached has two circles that differ in every point, and clients must agree on one: see [`Circle`]. Weights other
//! than one are left out.

/// How points are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Circle {
    /// `MEMCACHED_BEHAVIOR_KETAMA`, what clients get that ask for "ketama" and nothing else (`{"ketama": True}` in Python's
    /// pylibmc): 100 points a server, by libmemcached's own default hash, Jenkins' one-at-a-time.
    Plain,
    /// `MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED`, with equal weights (`OPT_LIBKETAMA_COMPATIBLE` in PHP): 160 points a server by
    /// MD5, four from each digest.
    Weighted,
}

/// The port that libmemcached leaves out of a server's name.
const DEFAULT_PORT: u16 = 11211;

/// Servers on their circle.
#[derive(Debug)]
pub struct Ketama {
    circle: Circle,
    /// Where each point lies, and whose it is, by place.
    points: Vec<(u32, usize)>,
}

impl Ketama {
    /// Servers by host, spelled as all clients of them spell it, and port. There is at least one.
    pub fn new<'a>(circle: Circle, servers: impl IntoIterator<Item = (&'a str, u16)>) -> Self {
        let mut points = Vec::new();
        for (server, (host, port)) in servers.into_iter().enumerate() {
            let name = |number: u32| match port {
                DEFAULT_PORT => format!("{host}-{number}"),
                port => format!("{host}:{port}-{number}"),
            };
            match circle {
                Circle::Plain => {
                    points.extend((0..100).map(|number| (one_at_a_time(name(number).as_bytes()), server)));
                }
                Circle::Weighted => {
                    let digests = (0..40).map(|number| md5::compute(name(number)).0);
                    let places = digests.flat_map(|digest| {
                        let (four, _) = digest.as_chunks();
                        [four[0], four[1], four[2], four[3]].map(u32::from_le_bytes)
                    });
                    points.extend(places.map(|place| (place, server)));
                }
            }
        }
        points.sort_by_key(|(place, _)| *place);
        Self { circle, points }
    }

    /// The server that holds a key, by its number among those given to [`Self::new`]; the first where there is none.
    pub fn server(&self, key: &[u8]) -> usize {
        let key = match self.circle {
            Circle::Plain => one_at_a_time(key),
            Circle::Weighted => {
                let [a, b, c, d, ..] = md5::compute(key).0;
                u32::from_le_bytes([a, b, c, d])
            }
        };
        let next = self.points.partition_point(|(place, _)| *place < key);
        let point = self.points.get(next).or_else(|| self.points.first());
        point.map_or(0, |(_, server)| *server)
    }
}

/// Bob Jenkins' hash of that name.
fn one_at_a_time(bytes: &[u8]) -> u32 {
    let mixed = bytes.iter().fold(0_u32, |hash, byte| {
        let hash = hash.wrapping_add(u32::from(*byte));
        let hash = hash.wrapping_add(hash << 10);
        hash ^ (hash >> 6)
    });
    let mixed = mixed.wrapping_add(mixed << 3);
    let mixed = mixed ^ (mixed >> 11);
    mixed.wrapping_add(mixed << 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Servers, by host and port.
    type Servers = &'static [(&'static str, u16)];

    /// Servers, and which of them `key-0`, `key-1` and so on are held by: plain, weighted.
    ///
    /// From libmemcached 1.1.4, through Python's ctypes: `memcached_create(NULL)`, `memcached_behavior_set(memcached,
    /// MEMCACHED_BEHAVIOR_KETAMA, 1)` or `.._WEIGHTED`, a `memcached_server_add` for each server, and a
    /// `memcached_generate_hash` for each key.
    const PLACED: [(Servers, [&str; 2]); 3] = [
        (
            &[("127.0.0.1", 11211), ("127.0.0.1", 11212), ("127.0.0.1", 11213)],
            [
                "2222201020201101220021002112010121121202201122221121120200002100",
                "0221000120111120111101200221001001020100111221220001012220110220",
            ],
        ),
        (
            &[("cache-a.example", 11211), ("cache-b.example", 11211)],
            [
                "0101100110110101001100000011011001011000000000000011110110110000",
                "1000001101010000000011001000110101000100100111111101100001000000",
            ],
        ),
        (
            &[
                ("10.0.0.1", 22122),
                ("10.0.0.2", 22122),
                ("10.0.0.3", 22122),
                ("10.0.0.4", 22122),
                ("10.0.0.5", 22122),
                ("10.0.0.6", 22122),
                ("10.0.0.7", 22122),
            ],
            [
                "1324401466615122411341446060016201065355466664563452545215043031",
                "3440015246223623230132045543212221641525445122313502530353500346",
            ],
        ),
    ];

    #[test]
    fn keys_lie_where_libmemcached_puts_them() {
        for (servers, placements) in PLACED {
            for (circle, expected) in [Circle::Plain, Circle::Weighted].into_iter().zip(placements) {
                let ketama = Ketama::new(circle, servers.iter().copied());
                let keys = (0..expected.len()).map(|number| format!("key-{number}"));
                let placed: String = keys.map(|key| ketama.server(key.as_bytes()).to_string()).collect();
                assert_eq!(placed, expected, "{circle:?} {servers:?}");
            }
        }
    }

    #[test]
    fn a_server_more_takes_keys_and_moves_none_between_the_others() {
        let four = [("a", 1), ("b", 1), ("c", 1), ("d", 1)];
        for circle in [Circle::Plain, Circle::Weighted] {
            let (before, after) = (Ketama::new(circle, four[..3].iter().copied()), Ketama::new(circle, four));
            let mut taken = 0;
            for number in 0..10_000 {
                let key = format!("{number}");
                let (old, new) = (before.server(key.as_bytes()), after.server(key.as_bytes()));
                assert!(new == old || new == 3, "{key} moved from {old} to {new}");
                taken += u32::from(new == 3);
            }
            assert!((1000..5000).contains(&taken), "{taken}");
        }
    }
}
