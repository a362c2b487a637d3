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
 * Simulates in the test's process a death that looks like kill -9 to every other process. A start costs 0.4 s of CPU here, and at least 2 s
 * as a process. equal-deaths.test.ts kills a real process at each fault point and checks that both leave the same state.
 *
 * A killed process leaves only what it has sent to others (Postgres, chains, hubs, callers) and the files of its DATA_DIR. Its later steps
 * never happen. At the fault point the following is therefore done within one turn of the event loop, in which no other code runs:
 *
 * - **Sockets** of every kind: the kernel closes those of a killed process. Bytes that it had written arrive, even if
 *   they are not read yet; an answer that it has not read is lost; Postgres rolls back an open transaction. Here the same
 *   sockets are closed in the same way (`ServiceSockets`), and no new one is opened from then on.
 * - **Its port** is closed, and its callers are cut off. Later calls are refused.
 * - **Its lease** is renewed no more, as Postgres cannot be reached, and expires after six seconds, or when the test says
 *   that they are over.
 * - **Its DATA_DIR** is reached by a link of its own, which is turned to an empty folder. A file that was being written
 *   aside is never renamed into its place, and its remains stay as after a kill. A head that is being written to its own
 *   slots, or to the file of heads by minute, still arrives: this equals a death one write later.
 * - **The call** that has reached the point never continues: the promise that it awaits does not resolve while the test's
 *   file runs.
 *
 * The remaining code continues with its timers and jobs until the service is stopped, which happens at once to save time. It cannot affect
 * anything outside, because each effect would use one of the above. Its log ends at its death.
 */

export interface DeathPlan {
  readonly point: FaultPoint | readonly FaultPoint[];
  /** Number of calls that must reach a point for the service to die. The calls before the last are held there. */
  readonly reached?: number;
  /** With `none` all calls are held, and the test decides what happens next. */
  readonly signal?: 'SIGKILL' | 'none';
}

export interface DyingService extends Omit<RunningService, 'stop'> {
  /** Application name of its sessions in pg_stat_activity. */
  readonly application_name: string;
  /** Resolves once the service is dead and Postgres has closed its sessions. */
  readonly died: Promise<void>;
  /** Kills the service at once, in any state of its calls. */
  kill(): Promise<void>;
  /** Ends the lease of the dead service, as if its remaining time had passed. */
  endLease(): Promise<void>;
}

interface DyingOptions extends ServiceOptions {
  readonly data_dir: string;
  /** A connection of the test by which it looks up the service's sessions. */
  readonly database: Database;
  /** Default: the service lives until the test kills it. */
  readonly plan?: DeathPlan;
}

export async function openDyingService({ database, plan, options, ...given }: DyingOptions): Promise<DyingService> {
  const sockets = new ServiceSockets();
  // Runs the test's query outside of the service's asynchronous context, because a new connection would otherwise count as the dead
  // service's.
  const outside = AsyncLocalStorage.snapshot();
  const folder = await linkTo(given.data_dir);
  // Application name by which its sessions are found in Postgres, even if they pass through a proxy.
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
  /** Fault points that were reached, as lines of the log. */
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

/** A symbolic link to a folder. `turnAway` moves the link to an empty folder, so that code that uses it no longer finds the files. */
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

/** Owners of all leases, including expired ones. */
async function owners(database: Database): Promise<readonly string[]> {
  const leases = await database.query<{ owner: string }>({ text: 'select owner from process_lease' });
  return leases.map(({ owner }) => owner);
}

/** Resolves once Postgres has ended these sessions, which rolls back their open transactions. */
async function sessionsEnded(database: Database, name: string): Promise<void> {
  const text = 'select 1 from pg_stat_activity where datname = current_database() and application_name = $1';
  while ((await database.query({ text, values: [name] })).length > 0) await sleep(10);
}

function named(database_url: string, application_name: string): string {
  const url = new URL(database_url);
  url.searchParams.set('application_name', application_name);
  return url.href;
}
