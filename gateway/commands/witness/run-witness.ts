import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256Hex } from '../../../schema/digest.ts';
import { systemClock } from '../../../subgraphs/clock.ts';
import { stateFolder } from '../../config/of-commands.ts';
import { LeafFile } from './catch-up.ts';
import type { Reach } from './cosigned-heads.ts';
import { Cosigner, openWitnessKey } from './cosigner.ts';
import { LogFollower, type Look } from './follower.ts';
import { monitorWallet } from './monitor/run-monitor.ts';
import type { WitnessOptions } from './options.ts';
import { serveWitness } from './serve.ts';
import { requireOwnFolder, trustedLog } from './trusted-log.ts';

/** Where it was kept before, in the folder that the command was started in. */
const FORMER = '.witness';

/**
 * The folder of a witness that was given none: one for each log, so that two that are followed from one place share neither
 * key nor heads. One that was begun in `.witness` goes on there, since its key is its name.
 */
async function ownState(url: string, say: (line: string) => void): Promise<string> {
  const { host } = new URL(url);
  const own = stateFolder(join('witness', `${host.replaceAll(/[^\w.-]/g, '_')}-${sha256Hex(url).slice(0, 16)}`));
  if (!(await isFormer(url))) return own;
  say(
    `The state of this witness is in ${FORMER}, inside a checkout. To move it, stop the witness, move the folder to ${own}, and start the witness again.`,
  );
  return FORMER;
}

async function isFormer(url: string): Promise<boolean> {
  const text = await readFile(join(FORMER, 'log.json'), 'utf8').catch(() => null);
  return (text ?? '').includes(JSON.stringify(url));
}

/** In service nothing is asked at any of them. */
const nowhere: Reach = async () => {};
/** After a submission the leaves that it is of are fetched at once, so that the first that differs can be named later. */
const NUDGE_MS = 200;

/**
 * Follows one log until a signal ends it, or for one look. Resolves with the exit code. @throws OperatorFault
 */
export async function runWitness(options: WitnessOptions, reach: Reach = nowhere): Promise<number> {
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
    if (once) return told(await follower.look());
    const pace = new Pace(every_ms);
    const server = port === null ? null : await serveWitness({ cosigner, answered: tellOf(pace) }, { host, port });
    if (server) console.log(`Serving add-checkpoint on http://${host}:${addressOf(server.address(), port)}`);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => pace.stop());
    let last = '';
    while (!pace.stopped) {
      const looked = await follower.look();
      // What is so at each look is said once.
      if (JSON.stringify(looked) !== last && !(looked.kind === 'unchanged' && last !== '')) told(looked);
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

/** The service whose log lies there. */
const serviceAt = (prefix: string) => prefix.replace(/\/log$/, '');

/** Prints it; the exit code that it comes to. */
function told(looked: Look): number {
  if ('sentence' in looked) {
    console.error(looked.kind === 'away' ? `Cannot look: ${looked.sentence}.` : `REFUSED: ${looked.sentence}.`);
    return 1;
  }
  console.log(words[looked.kind](looked.size));
  return 0;
}

const words = {
  cosigned: (size: number) => `Cosigned: ${size} leaves.`,
  unchanged: (size: number) => `Nothing new: ${size} leaves are cosigned.`,
  behind: (size: number) => `The log shows ${size} leaves, the beginning of what is cosigned: nothing is signed.`,
} as const;

function tellOf(pace: Pace): (status: number, body: string) => void {
  let last = '';
  return (status, body) => {
    if (status === 200) {
      console.log('Cosigned: a checkpoint that was submitted.');
      pace.nudge();
    }
    // Strangers may send the like of it without end.
    if (status === 422 && body !== last) console.error(`REFUSED a submission: ${body.trimEnd()}.`);
    last = body;
  };
}

function addressOf(address: { readonly port: number } | string | null, asked: number | null): number {
  return typeof address === 'object' && address ? address.port : (asked ?? 0);
}

/** Rests between two looks; less where something calls for one. */
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
