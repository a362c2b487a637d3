import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getAddress, type Hex } from 'viem';
import type { FaultPoint } from '../../../gateway/operations/faults.ts';
import { openStore } from '../../../gateway/parts.ts';
import { freshChain } from '../chain.ts';
import { freshDatabase } from '../database.ts';
import { type RunningGateway, startGateway } from '../gateway.ts';
import { startTestHub } from '../hub.ts';
import { atEnd } from '../release.ts';
import { ownFolder } from '../scratch.ts';
import { setAudience } from '../signing-audience.ts';
import { openSolana } from '../solana/open-solana.ts';
import { openWorkerService, type RunningService, type WorkerGatewayOptions } from '../worker-gateway.ts';
import { type DeathPlan, openDyingService } from './dying-service.ts';

/** A fault that a process of these tests causes to itself (see gateway-with-faults). */
export interface Fault {
  readonly point: FaultPoint | readonly FaultPoint[];
  /** Points at each of which one call must be held before the fault can happen. */
  readonly held?: readonly FaultPoint[];
  /** Number of calls that must reach a point for the fault to happen. The calls before the last are held there. */
  readonly reached?: number;
  /** With `none` all calls are held, and the test decides what happens next. */
  readonly signal?: 'SIGKILL' | 'SIGSTOP' | 'none';
  /** Whether several points are active one after the other: the first at once, each further one after a SIGUSR2. */
  readonly in_turn?: boolean;
}

export interface StartOptions {
  /** URL of another database, or of a proxy to the ground's database. */
  readonly url?: string;
  readonly data_dir?: string;
  /** Variables that replace those of the ground. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly port?: number;
}

interface WorkerOptions extends StartOptions {
  readonly options?: WorkerGatewayOptions;
}

interface DyingOptions extends WorkerOptions {
  /** Default: the service lives until the test kills it. */
  readonly plan?: DeathPlan;
}

export interface ProcessOptions extends StartOptions {
  readonly await_health?: boolean;
  /** Main to run in place of the service's. */
  readonly entry?: string;
  readonly args?: readonly string[];
}

/** BASE_URL of all processes, on any port. */
const SERVICE_URL = 'http://svc.test';

export type Ground = Awaited<ReturnType<typeof openGround>>;

/** Longer than any wait takes on a busy machine. No test asserts this time. */
const DEADLINE_MS = 180_000;
/** Longest time that a held call keeps running if a test fails before it releases the call. */
const HELD_MS_MAX = 60_000;

interface GroundOptions {
  readonly database_url?: string;
  readonly image_models?: readonly string[];
  readonly audio_models?: readonly string[];
  readonly embedding_models?: readonly string[];
  /** Whether the processes are also paid on a Solana stand-in of this ground. */
  readonly solana?: boolean;
  /** Whether the test counts by the hour (see `freshDatabase`). */
  readonly mid_hour?: boolean;
  /** Additional variables of all processes. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** One database, chain, hub and DATA_DIR for all processes of a test. The database is on a separate cluster if its URL is given. */
export async function openGround(given: GroundOptions = {}) {
  const data_dir = await ownFolder();
  const [chain, database_url, hub] = await Promise.all([
    freshChain(),
    given.database_url ?? freshDatabase({ mid_hour: given.mid_hour ?? false }).then(({ url }) => url),
    startTestHub({ name: 'gamma', models: ['test/model'], ...mediaOf(given) }),
  ]);
  const solana = given.solana ? await openSolana() : null;
  const broken = new Set<string>();
  const slow = new Map<string, PromiseWithResolvers<void>>();
  hub.behave(({ body }) => {
    const asked = JSON.stringify(body);
    if ([...broken].some(prompt => asked.includes(`"${prompt}"`))) return { kind: 'status', status: 500 };
    if (!asked.includes('"slow')) return { kind: 'answer' };
    const held = slow.get(asked) ?? Promise.withResolvers<void>();
    slow.set(asked, held);
    return { kind: 'answer', until: Promise.race([held.promise, sleep(HELD_MS_MAX, undefined, { ref: false })]) };
  });
  const database = await openStore(database_url);
  atEnd(() => database.close());
  setAudience(SERVICE_URL);
  const pay_to = getAddress(`0x${randomBytes(20).toString('hex')}`);
  const environment = {
    DATABASE_URL: database_url,
    BASE_RPC_URL: chain.rpc_url,
    BASE_URL: SERVICE_URL,
    FACILITATOR_KEYS: chain.facilitator_keys.join(','),
    HUBS: JSON.stringify([hub.config]),
    PAY_TO_BASE: pay_to,
    API_KEYS: 'a-live-key',
    // All processes on one database share issuer and sealing keys, so the keys are settings and not files in DATA_DIR.
    ISSUER_KEYS: randomBytes(32).toString('hex'),
    SEAL_KEY: randomBytes(32).toString('hex'),
    LOG_LEVEL: 'warn',
    // Empty, because each command would otherwise start a Solana stand-in.
    SOLANA_RPC_URL: '',
    ...solana?.environment,
    ...given.environment,
  };
  return {
    chain,
    /** The Solana stand-in. Null if no payment is made on Solana. */
    solana,
    database,
    database_url,
    hub,
    /** Prompts on which the hub fails, until the test removes them. */
    broken,
    /**
     * Answers the held prompts that begin with `slow` and have reached the hub so far, also if they are sent again. The hub does not answer
     * such a prompt before.
     */
    answerSlow(): void {
      for (const held of slow.values()) held.resolve();
    },
    pay_to: pay_to as Hex,
    data_dir,
    saved_head: join(data_dir, 'log-head.json'),
    /** Environment of a command that an operator runs while the processes run. */
    environment: ({ url = database_url }: { url?: string } = {}) => ({
      PATH: process.env.PATH,
      HOME: data_dir,
      DATA_DIR: data_dir,
      ...environment,
      DATABASE_URL: url,
    }),
    /** Starts a service without faults, by default on the ground's DATA_DIR and database. */
    start: ({ url = database_url, environment: changed, ...given }: WorkerOptions = {}) =>
      openWorkerService({ data_dir, environment: { ...environment, DATABASE_URL: url, ...changed }, ...given }),
    /** Starts a service in this process that can die as if by kill -9 (see dying-service). */
    startDying: ({ url = database_url, environment: changed, ...given }: DyingOptions = {}) =>
      openDyingService({
        data_dir,
        database,
        environment: { ...environment, DATABASE_URL: url, ...changed },
        ...given,
      }),
    /** Starts a service as a separate process, which can be killed. */
    startProcess: ({ url = database_url, environment: changed, ...options }: ProcessOptions = {}) =>
      startGateway({ data_dir, environment: { ...environment, DATABASE_URL: url, ...changed }, ...options }),
    startFaulty: ({
      point,
      held = [],
      reached = 1,
      signal = 'SIGKILL',
      in_turn = false,
    }: Fault): Promise<RunningGateway> =>
      startGateway({
        data_dir,
        entry: 'test/harness/faults/gateway-with-faults.ts',
        environment: {
          ...environment,
          FAULT_POINT: [point].flat().join(','),
          FAULT_IN_TURN: String(in_turn),
          FAULT_HELD: held.join(','),
          FAULT_REACHED: String(reached),
          FAULT_SIGNAL: signal,
        },
      }),
  };
}

function mediaOf({ image_models = [], audio_models = [], embedding_models = [] }: GroundOptions) {
  return { image_models, audio_models, embedding_models };
}

/** Waits until `look` returns something other than null. `what` names the awaited state in the error. */
export async function eventually<T>(what: string, look: () => Promise<T | null> | T | null): Promise<T> {
  const deadline_ms = Date.now() + DEADLINE_MS;
  while (Date.now() < deadline_ms) {
    const found = await look();
    if (found !== null) return found;
    await sleep(50);
  }
  throw new Error(`not in ${DEADLINE_MS} ms: ${what}`);
}

/** Resolves once that many calls are held at the point. The process may then be dead or stopped. */
export function untilReached(at: Pick<RunningService, 'logs'>, point: FaultPoint, times = 1): Promise<true> {
  return eventually(`${point} reached`, () => at.logs.includes(`held at ${point}: ${times}`) || null);
}
