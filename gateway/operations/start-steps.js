import { channel } from 'node:diagnostics_channel';

/*
 * What a start is doing, from before any module of ours is loaded until the service listens. Steps are published on a channel of Node's,
 * because launch.js and the bundle that it loads have no module in common. JavaScript, as launch.js is.
 */

/**
 * `handles_signals`: from now on the program handles them itself.
 * @typedef {{ readonly kind: 'began' | 'ended', readonly what: string } | { readonly kind: 'handles_signals' | 'over' }} StartEvent
 */

const steps = channel('spend-receipt-gateway:start');

/**
 * Awaits a part of the start, which is named while it lasts: "starting Postgres".
 * @template T
 * @param {string} what
 * @param {Promise<T>} work
 * @returns {Promise<T>}
 */
export async function duringStart(what, work) {
  publish({ kind: 'began', what });
  try {
    return await work;
  } finally {
    publish({ kind: 'ended', what });
  }
}

/** From now on the program handles signals. */
export function publishSignalHandling() {
  publish({ kind: 'handles_signals' });
}

/** The service listens. */
export function publishStartEnd() {
  publish({ kind: 'over' });
}

/** @param {StartEvent} event */
function publish(event) {
  steps.publish(event);
}

/**
 * Calls `take` for each event of the start, the last of which is `over`.
 * @param {(event: StartEvent) => void} take
 */
export function followStart(take) {
  /** @param {unknown} message */
  const follow = message => {
    const event = /** @type {StartEvent} */ (message);
    take(event);
    if (event.kind === 'over') steps.unsubscribe(follow);
  };
  steps.subscribe(follow);
}
