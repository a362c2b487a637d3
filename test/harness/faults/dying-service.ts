import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { renameSync, symlinkSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultPoint, Faults } from '../../../gateway/operations/faults.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { atEnd } from '../release.ts';
import { ownFolder } from '../scratch.ts';
import { openHere, type RunningService, type ServiceOptions } from '../worker-gateway.ts';
import { ServiceSockets } from './service-sockets.ts';

/*
 * A death in the test's own process that is what kill -9 is to everybody else. A start costs 0.4 s of CPU here, and 2 s or
 * more as a process. equal-deaths.test.ts kills a process at each fault point beside it: both have to leave the same.
 *
 * What is left of a killed process is what it had told others: Postgres, chains, hubs, callers, and the files of its
 * DATA_DIR. Whatever it would have done next is gone with it. So at the very point, in one turn of the event loop, in which
 * no other code runs:
 *
 * - **Sockets**, to whomever: the kernel closes those of a killed process. What it had written arrives, also where nobody
 *   has read it yet; an answer that it has not read is lost; a transaction that was open is rolled back by Postgres. Here the
 *   same sockets are closed in the same way (`ServiceSockets`), and no new one is opened from then on.
 * - **Its port** is closed, and its callers are cut off. Whoever calls it next is refused.
 * - **Its lease** is renewed no more, as Postgres is reached no more, and runs out by itself after six seconds, or when the
 *   test says that they are over.
 * - **Its DATA_DIR** is known to it by a link of its own, which is turned to an empty folder. A file that was being written
 *   aside is never renamed into its place, and its remains lie there as after a kill. A line that is on its way into the
 *   file of heads by minute still comes: it is of a head that is saved already, so that it is a death one write later.
 * - **The call** that has reached the point goes on no more: what it waits for never comes while the test's file runs.
 *
 * The rest of its code lives on, with its timers and jobs. All that these could do to anybody goes by one of the above, so
 * what they do is nobody's business; its log ends at its death. It is told to stop at once, so that it costs no time.
 */

export interface DeathPlan {
  readonly point: FaultPoint | readonly FaultPoint[];
  /** With how many calls at a point it dies; those before are held there. */
  readonly reached?: number;
  /** `none`: they are held, and the rest is the test's to do. */
  readonly signal?: 'SIGKILL' | 'none';
}

export interface DyingService extends Omit<RunningService, 'stop'> {
  /** By which its sessions are known in pg_stat_activity. */
  readonly application_name: string;
  /** Resolves once it is dead, and Postgres has closed its sessions. */
  readonly died: Promise<void>;
  /** At once, wherever its calls stand. */
  kill(): Promise<void>;
  /** Once it is dead: nobody takes it for alive any more, as if the rest of its lease had passed. */
  endLease(): Promise<void>;
}

interface DyingOptions extends ServiceOptions {
  readonly data_dir: string;
  /** By which its sessions there are looked for; not its own. */
  readonly database: Database;
  /** At no point unless given: then it is killed by the test alone. */
  readonly plan?: DeathPlan;
}

export async function openDyingService({ database, plan, options, ...given }: DyingOptions): Promise<DyingService> {
  const sockets = new ServiceSockets();
  // A death is brought about by the service's own code; what is looked for afterwards is the test's to ask.
  const outside = AsyncLocalStorage.snapshot();
  const folder = await linkTo(given.data_dir);
  // By which Postgres knows its sessions, also where something stands between.
  const name = `dying_${randomBytes(8).toString('hex')}`;
  const environment = { ...given.environment, DATABASE_URL: named(given.environment.DATABASE_URL ?? '', name) };
  const death = Promise.withResolvers<void>();
  const held = Promise.withResolvers<never>();
  for (const { promise } of [death, held]) promise.catch(() => {});
  const points: string[] = [];
  let logs: string[] | null = null;
  let stopped: Promise<unknown> | null = null;
  const die = () => {
    if (logs) return;
    sockets.close();
    folder.turnAway();
    logs = [...opened.logs, ...points];
    stopped = sockets.run(() => opened.gateway.close()).catch(() => {});
    death.resolve(outside(() => sessionsEnded(database, name)));
  };
  const faults = plan ? planned(plan, { points, held: held.promise, die }) : null;
  const before = await owners(database);
  const opened = await sockets.run(() =>
    openHere({
      ...given,
      environment,
      options: { ...options, faults },
      amend: config => ({ ...config, data_dir: folder.path }),
    }),
  );
  const [owner, ...others] = (await owners(database)).filter(name => !before.includes(name));
  if (others.length > 0) throw new Error('whose lease is whose is not known of services that are opened at once');
  atEnd(async () => {
    die();
    held.reject(new Error('the service is dead, and its test is over'));
    await stopped;
    await opened.development.stop();
  });
  return {
    url: opened.url,
    application_name: name,
    data_dir: opened.data_dir,
    get logs() {
      return logs ?? [...opened.logs, ...points];
    },
    died: death.promise,
    kill() {
      die();
      return death.promise;
    },
    async endLease() {
      await death.promise;
      const text = 'update process_lease set expires_at = now() where owner = $1';
      await database.query({ text, values: [owner] });
    },
  };
}

interface Death {
  /** Those that were reached, as a line of its log says it. */
  readonly points: string[];
  readonly held: Promise<never>;
  die(): void;
}

function planned({ point, reached = 1, signal = 'SIGKILL' }: DeathPlan, { points, held, die }: Death): Faults {
  const left = new Map([point].flat().map(name => [name, reached]));
  return {
    reach(name) {
      const more = (left.get(name) ?? 0) - 1;
      if (more < 0) return Promise.resolve();
      left.set(name, more);
      points.push(`held at ${name}: ${reached - more}`);
      if (more === 0 && signal === 'SIGKILL') die();
      return held;
    },
  };
}

/** Another way to a folder, which can be turned to an empty one: whoever goes by it finds nothing of the first any more. */
async function linkTo(target: string): Promise<{ readonly path: string; turnAway(): void }> {
  const home = await ownFolder();
  const [path, grave, next] = [join(home, 'data'), join(home, 'grave'), join(home, 'next')];
  await mkdir(grave);
  symlinkSync(target, path);
  return {
    path,
    turnAway() {
      symlinkSync(grave, next);
      renameSync(next, path);
    },
  };
}

/** Of the leases that stand, whether they have run out or not. */
async function owners(database: Database): Promise<readonly string[]> {
  const leases = await database.query<{ owner: string }>({ text: 'select owner from process_lease' });
  return leases.map(({ owner }) => owner);
}

/** By then what they had open is rolled back. */
async function sessionsEnded(database: Database, name: string): Promise<void> {
  const text = 'select 1 from pg_stat_activity where datname = current_database() and application_name = $1';
  while ((await database.query({ text, values: [name] })).length > 0) await sleep(10);
}

function named(database_url: string, application_name: string): string {
  const url = new URL(database_url);
  url.searchParams.set('application_name', application_name);
  return url.href;
}
