import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256Hex } from '../../../schema/digest.ts';
import { systemClock } from '../../../subgraphs/clock.ts';
import { stateFolder } from '../../config/command-settings.ts';
import { LeafFile } from './catch-up.ts';
import type { StepHook } from './cosigned-heads.ts';
import { Cosigner, openWitnessKey } from './cosigner.ts';
import { type LogCheck, LogFollower } from './follower.ts';
import { monitorWallet } from './monitor/run-monitor.ts';
import type { WitnessOptions } from './options.ts';
import { serveWitness } from './serve.ts';
import { requireOwnFolder, trustedLog } from './trusted-log.ts';

/** The default state folder of former versions, inside the current directory. */
const FORMER = '.witness';

/**
 * The default state folder. Each URL has a separate one, so that two logs share neither key nor checkpoints. A witness that began
 * in `.witness` continues there, because its key is stored in that folder.
 */
async function ownState(url: string, say: (line: string) => void): Promise<string> {
  const { host } = new URL(url);
  const own = stateFolder(join('witness', `${host.replaceAll(/[^\w.-]/g, '_')}-${sha256Hex(url).slice(0, 16)}`));
  if (!(await isFormer(url))) return own;
  say(
    `The state of this witness is in ${FORMER} in the current directory. To move it, stop the witness, move the folder to ${own}, and start the witness again.`,
  );
  return FORMER;
}

async function isFormer(url: string): Promise<boolean> {
  const text = await readFile(join(FORMER, 'log.json'), 'utf8').catch(() => null);
  return (text ?? '').includes(JSON.stringify(url));
}

/** Continues at each step. Only tests stop there. */
const nowhere: StepHook = async () => {};
/**
 * Delay of the check after a submission. The leaves of a submitted checkpoint are fetched at once, so that the first leaf that
 * differs in a later fork can be found.
 */
const NUDGE_MS = 200;

/** Follows one log until a signal ends the command, or checks the log once. Resolves to the exit code. @throws OperatorFault */
export async function runWitness(options: WitnessOptions, reach: StepHook = nowhere): Promise<number> {
  const { host, port, once, every_ms, monitored } = options;
  const say = (line: string) => console.log(line);
  const state = options.state ?? (await ownState(options.url, say));
  await requireOwnFolder({ ...options, state });
  await mkdir(state, { recursive: true, mode: 0o700 });
  const key = await openWitnessKey(state, options.name, systemClock);
  console.log(`Witness: ${key.verifier.text}`);
  const log = await trustedLog({ ...options, state }, say);
  const cosigner = new Cosigner(log, { key, state, clock: systemClock, reach });
  await cosigner.newest();
  console.log(`Log:     ${log.origin} at ${log.source.prefix}`);
  const leaves = await LeafFile.open(join(state, 'leaves'));
  try {
    const follower = new LogFollower({ cosigner, source: log.source, leaves, reach });
    if (monitored)
      return await monitorWallet(monitored, { url: serviceAt(log.source.prefix), look: () => follower.look(), leaves });
    if (once) return report(await follower.look());
    const pace = new Pace(every_ms);
    const server =
      port === null ? null : await serveWitness({ cosigner, onAnswer: reportSubmissions(pace) }, { host, port });
    if (server) console.log(`Serving add-checkpoint on http://${host}:${addressOf(server.address(), port)}`);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => pace.stop());
    let last = '';
    while (!pace.stopped) {
      const looked = await follower.look();
      // Repeated results are printed only once.
      if (JSON.stringify(looked) !== last && !(looked.kind === 'unchanged' && last !== '')) report(looked);
      last = JSON.stringify(looked);
      await pace.rest();
    }
    server?.close();
    server?.closeAllConnections();
    return 0;
  } finally {
    await leaves.close();
  }
}

/** URL of the service that serves the log at that prefix. */
const serviceAt = (prefix: string) => prefix.replace(/\/log$/, '');

/** Prints the result of a check and returns the exit code. */
function report(looked: LogCheck): number {
  if ('sentence' in looked) {
    console.error(looked.kind === 'away' ? `Cannot check: ${looked.sentence}.` : `REFUSED: ${looked.sentence}.`);
    return 1;
  }
  console.log(words[looked.kind](looked.size));
  return 0;
}

const words = {
  cosigned: (size: number) => `Cosigned: ${size} leaves.`,
  unchanged: (size: number) => `No change: ${size} leaves are cosigned.`,
  behind: (size: number) =>
    `The log shows ${size} leaves, fewer than this witness has cosigned, but consistent with them. Nothing was signed.`,
} as const;

function reportSubmissions(pace: Pace): (status: number, body: string) => void {
  let last = '';
  return (status, body) => {
    if (status === 200) {
      console.log('Cosigned: a submitted checkpoint.');
      pace.nudge();
    }
    // A repeated submission is reported once, because anyone may send the same invalid one again and again.
    if (status === 422 && body !== last) console.error(`REFUSED a submission: ${body.trimEnd()}`);
    last = body;
  };
}

function addressOf(address: { readonly port: number } | string | null, wanted: number | null): number {
  return typeof address === 'object' && address ? address.port : (wanted ?? 0);
}

/** Waits between two checks. A submission ends the wait. */
class Pace {
  readonly #every_ms: number;
  readonly #stopping = new AbortController();
  #woken = Promise.withResolvers<void>();

  constructor(every_ms: number) {
    this.#every_ms = every_ms;
  }

  get stopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  async rest(): Promise<void> {
    const { signal } = this.#stopping;
    const resting = new AbortController();
    const both = AbortSignal.any([signal, resting.signal]);
    await Promise.race([sleep(this.#every_ms, null, { signal: both }).catch(() => {}), this.#woken.promise]);
    resting.abort();
    this.#woken = Promise.withResolvers();
    await sleep(Math.min(NUDGE_MS, this.#every_ms), null, { signal }).catch(() => {});
  }

  nudge(): void {
    this.#woken.resolve();
  }

  stop(): void {
    this.#stopping.abort();
  }
}
