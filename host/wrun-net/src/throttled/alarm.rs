//! Waiting for deadlines, more finely than tokio's timer does.
//!
//! tokio rounds up to the millisecond, which is more than some of the delays that are to be kept. So all deadlines of a
//! backend are kept here, in order, and one task waits for the earliest of them. It lives only while there are any: who
//! waits for the end of all tasks does not wait for this one.
//!
//! What is left out: what a deadline is for. Who is woken looks at the clock itself.

mod timer;

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use tokio::runtime::Handle;
use tokio::time::Instant;

use self::timer::Timer;
use crate::sync::lock;

/// What the deadlines are waited for with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// The kernel's own timer: some tens of microseconds. As [`Precision::Coarse`] where there is none.
    Fine,
    /// tokio's timer: a millisecond, rounded up. The one to use on a paused clock, which it moves on.
    Coarse,
}

/// The deadlines of a backend.
pub struct Alarm {
    precision: Precision,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By time, and then by number, so that of two at one time the first is woken first.
    calls: BTreeMap<(Instant, u64), Waker>,
    next: u64,
    driver: Driver,
}

/// The task that waits.
#[derive(Default)]
enum Driver {
    /// There is none, but maybe the timer that the last one had.
    #[default]
    None,
    Idle(Timer),
    /// It has been started and not been polled yet: it will look at all there is.
    Starting,
    /// It waits for the deadline that was the earliest, and is woken when that changes.
    Waiting(Waker),
}

impl Alarm {
    pub fn new(precision: Precision) -> Arc<Self> {
        Arc::new(Self { precision, state: Mutex::default() })
    }

    /// Notes who is to be woken. Starts the task, on this runtime, if there is none.
    fn call(self: &Arc<Self>, runtime: &Handle, deadline: Instant, waker: &Waker) -> u64 {
        let mut state = lock(&self.state);
        let number = state.next;
        state.next += 1;
        let is_first = state.calls.first_key_value().is_none_or(|((earliest, _), _)| deadline < *earliest);
        state.calls.insert((deadline, number), waker.clone());
        match &state.driver {
            Driver::None | Driver::Idle(_) => {
                let timer = match std::mem::replace(&mut state.driver, Driver::Starting) {
                    Driver::Idle(timer) => Some(timer),
                    _ => None,
                };
                drop(state);
                runtime.spawn(self.clone().drive(timer));
            }
            Driver::Waiting(driver) if is_first => {
                let driver = driver.clone();
                drop(state);
                driver.wake();
            }
            Driver::Waiting(_) | Driver::Starting => {}
        }
        number
    }

    fn call_off(&self, deadline: Instant, number: u64) {
        let mut state = lock(&self.state);
        let called_off = state.calls.remove(&(deadline, number));
        // The last one: the task may end.
        let driver = match &state.driver {
            Driver::Waiting(driver) if state.calls.is_empty() && called_off.is_some() => Some(driver.clone()),
            _ => None,
        };
        // Dropping a waker may run code that comes back here.
        drop(state);
        drop(called_off);
        driver.into_iter().for_each(Waker::wake);
    }

    /// Wakes whoever's time has come, until nobody waits.
    async fn drive(self: Arc<Self>, timer: Option<Timer>) {
        let mut timer = Some(timer.unwrap_or_else(|| Timer::new(self.precision)));
        poll_fn(|cx| self.poll_drive(&mut timer, cx)).await;
    }

    fn poll_drive(&self, timer: &mut Option<Timer>, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let (due, earliest) = {
                let mut state = lock(&self.state);
                let now = Instant::now();
                let later = state.calls.split_off(&(now, u64::MAX));
                let due = std::mem::replace(&mut state.calls, later);
                let earliest = state.calls.first_key_value().map(|((earliest, _), _)| *earliest);
                state.driver = match earliest {
                    Some(_) => Driver::Waiting(cx.waker().clone()),
                    None => timer.take().map_or(Driver::None, Driver::Idle),
                };
                (due, earliest)
            };
            due.into_values().for_each(Waker::wake);
            let (Some(earliest), Some(timer)) = (earliest, timer.as_mut()) else { return Poll::Ready(()) };
            if timer.poll(earliest, cx).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

/// A place to wait for one deadline after another.
pub struct Bell {
    alarm: Arc<Alarm>,
    runtime: Handle,
    rings: Option<Ring>,
}

struct Ring {
    deadline: Instant,
    number: u64,
    waker: Waker,
}

impl Bell {
    pub fn new(alarm: Arc<Alarm>, runtime: Handle) -> Self {
        Self { alarm, runtime, rings: None }
    }

    /// Ready when the deadline has passed. One that was waited for before is forgotten.
    pub fn poll(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= deadline {
            self.forget();
            return Poll::Ready(());
        }
        let waits = |ring: &Ring| ring.deadline == deadline && ring.waker.will_wake(cx.waker());
        if !self.rings.as_ref().is_some_and(waits) {
            self.forget();
            let number = self.alarm.call(&self.runtime, deadline, cx.waker());
            self.rings = Some(Ring { deadline, number, waker: cx.waker().clone() });
        }
        Poll::Pending
    }

    /// Waits for nothing any more.
    pub fn forget(&mut self) {
        if let Some(Ring { deadline, number, .. }) = self.rings.take() {
            self.alarm.call_off(deadline, number);
        }
    }

    pub async fn until(mut self, deadline: Instant) {
        poll_fn(|cx| self.poll(deadline, cx)).await;
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        self.forget();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn bell(alarm: &Arc<Alarm>) -> Bell {
        Bell::new(alarm.clone(), Handle::current())
    }

    /// Waits for several deadlines, given in milliseconds from now, and says in which order they came.
    async fn order(alarm: &Arc<Alarm>, deadlines: &[u64]) -> Vec<u64> {
        let start = Instant::now();
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        for &deadline in deadlines {
            let (bell, tell) = (bell(alarm), tell.clone());
            tokio::spawn(async move {
                let moment = start + Duration::from_millis(deadline);
                bell.until(moment).await;
                assert!(Instant::now() >= moment, "it is too early");
                tell.send(deadline).unwrap();
            });
        }
        drop(tell);
        let mut order = Vec::new();
        while let Some(deadline) = told.recv().await {
            order.push(deadline);
        }
        order
    }

    #[tokio::test(start_paused = true)]
    async fn deadlines_come_in_their_order_whenever_they_were_asked_for() {
        let alarm = Alarm::new(Precision::Coarse);
        for _ in 0..2 {
            assert_eq!(order(&alarm, &[30, 10, 20, 0, 10, 3_600_000]).await, [0, 10, 10, 20, 30, 3_600_000]);
        }
    }

    #[tokio::test]
    async fn a_fine_alarm_keeps_their_order_and_is_never_early() {
        let alarm = Alarm::new(Precision::Fine);
        for _ in 0..2 {
            assert_eq!(order(&alarm, &[30, 10, 20, 0, 15]).await, [0, 10, 15, 20, 30]);
        }
    }

    #[tokio::test]
    async fn the_task_ends_with_the_last_who_waits() {
        for precision in [Precision::Fine, Precision::Coarse] {
            let alarm = Alarm::new(precision);
            let mut bells = [bell(&alarm), bell(&alarm)];
            for bell in &mut bells {
                let far = Instant::now() + Duration::from_secs(3600);
                assert!(poll_fn(|cx| Poll::Ready(bell.poll(far, cx))).await.is_pending());
            }
            tokio::task::yield_now().await;
            assert_eq!(Handle::current().metrics().num_alive_tasks(), 1);
            drop(bells);
            while Handle::current().metrics().num_alive_tasks() > 0 {
                tokio::task::yield_now().await;
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_earlier_deadline_is_waited_for_instead() {
        let alarm = Alarm::new(Precision::Coarse);
        let start = Instant::now();
        let late = tokio::spawn(bell(&alarm).until(start + Duration::from_secs(3600)));
        tokio::task::yield_now().await;
        bell(&alarm).until(start + Duration::from_millis(5)).await;
        assert_eq!(start.elapsed(), Duration::from_millis(5));
        late.abort();
    }
}
