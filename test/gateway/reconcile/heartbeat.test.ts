import { randomUUID } from 'node:crypto';
import { afterEach, expect, it, vi } from 'vitest';
import { openHeartbeat } from '../../../gateway/reconcile/heartbeat.ts';
import { eventually } from '../../harness/faults/ground.ts';
import { freshStore } from '../../harness/store.ts';

afterEach(() => void vi.useRealTimers());

it('who has stood still takes nobody for dead before all have had time to renew their leases', async () => {
  const database = await freshStore();
  const expiry = async () =>
    (await database.query<{ at: Date }>({ text: 'select expires_at as at from process_lease' }))[0]?.at.getTime() ?? 0;
  // Beats come as they do in service; only the clock that judges them is the test's.
  vi.useFakeTimers({ toFake: ['performance'] });
  const heartbeat = await openHeartbeat(database, randomUUID(), () => {});
  const beaten = async () => {
    const before = await expiry();
    await eventually('a beat', async () => (await expiry()) > before || null);
  };
  try {
    expect(heartbeat.steady()).toBe(true);
    expect(heartbeat.isBeating()).toBe(true);
    vi.advanceTimersByTime(6_100);
    expect(heartbeat.steady()).toBe(false);
    // Its lease has expired: it does not count as holding one until a beat is written.
    expect(heartbeat.isBeating()).toBe(false);
    // The process learns of a written beat a moment later; when a second one is written, it knows of the first.
    await beaten();
    await beaten();
    expect(heartbeat.steady()).toBe(false);
    expect(heartbeat.isBeating()).toBe(true);
    vi.advanceTimersByTime(5_900);
    expect(heartbeat.steady()).toBe(false);
    await beaten();
    await beaten();
    vi.advanceTimersByTime(200);
    expect(heartbeat.steady()).toBe(true);
  } finally {
    await heartbeat.stop();
  }
});
