import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../operations/process-identity.ts';
import { tenantsOf } from '../operations/tenancy.ts';
import { END_MS_MAX, keeperFile, keeperLock, type StandIn, standInsOf } from './keep.ts';
import { withLock } from './lock.ts';
import { endProcess } from './spawn-detached.ts';

/*
 * `node keeper.ts DATA_DIR`: ends the stand-ins of a DATA_DIR that no living process has used for their `idle_ms`, and then itself.
 * If it is killed, no data is lost: the next start of a stand-in starts another keeper.
 */

const LOOK_MS_MAX = 5_000;

const [data_dir = ''] = process.argv.slice(2);
/** The last list of stand-ins that was read. It is kept because stand-ins must end even if their DATA_DIR was removed. */
const known = new Map<string, StandIn>();
let used_ms = performance.now();

while (!(await isDone())) {
  if (await isLivedIn()) used_ms = performance.now();
  const idle_ms = performance.now() - used_ms;
  for (const stand_in of known.values()) {
    if (idle_ms >= stand_in.idle_ms) await end(stand_in).catch(fault => say(`${stand_in.name} goes on: ${fault}`));
  }
  await sleep(Math.min(LOOK_MS_MAX, ...[...known.values()].map(({ idle_ms }) => idle_ms / 10)));
}

/**
 * Whether a living process uses the stand-ins. If this cannot be determined they count as used, because a missing stand-in is worse
 * than an idle one.
 */
async function isLivedIn(): Promise<boolean> {
  return tenantsOf(data_dir).then(
    tenants => tenants.length > 0,
    () => true,
  );
}

/**
 * Ends a stand-in under its lock. A process that starts or adopts the stand-in joins the tenants under the same lock, so either
 * that process is seen here, or it finds that the stand-in has ended.
 */
async function end({ name, lock, mark, signals, idle_ms }: StandIn): Promise<void> {
  await withLock(lock, async () => {
    if ((await isLivedIn()) || !isAlive(mark)) return;
    await endProcess(mark, signals, END_MS_MAX);
    say(`${name} was ended: no process has used it for ${idle_ms / 1_000} s`);
  });
}

/** Whether no stand-in is left. A later stand-in gets another keeper. */
async function isDone(): Promise<boolean> {
  await look();
  if (known.size > 0) return false;
  return withLock(keeperLock(data_dir), async () => {
    await look();
    if (known.size === 0) await rm(keeperFile(data_dir), { force: true });
    return known.size === 0;
  });
}

async function look(): Promise<void> {
  for (const stand_in of await standInsOf(data_dir)) {
    const before = known.get(stand_in.name);
    known.set(stand_in.name, stand_in);
    if (before?.mark.pid !== stand_in.mark.pid && isAlive(stand_in.mark)) say(`keeps ${stand_in.name}`);
  }
  for (const [name, { mark }] of known) if (!isAlive(mark)) known.delete(name);
}

function say(sentence: string): void {
  console.log(`${new Date().toISOString()} ${sentence}`);
}
