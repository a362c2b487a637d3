import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { privateKeyToAddress } from 'viem/accounts';
import { OperatorFault, UsageFault } from '../config/fault.ts';
import { readConfig } from '../config/read-config.ts';
import { answererAt, readDevelopmentFile } from '../operations/development-file.ts';
import { run } from '../operations/run.ts';
import { newDevelopmentWallet } from './development-wallet.ts';

/*
 * `npm run example -- NAME`: runs a program of rest-compat/client/examples as it stands there; without a name it lists them. An example
 * reads SERVICE_URL and the keys of its wallets from the environment. What is not set is filled in here from the development service
 * that runs: a new wallet for each run, so that an example may register it. Run by Node as it is, since the examples are no part of
 * what is built.
 */

const FOLDER = join(import.meta.dirname, '../../rest-compat/client/examples');
const KEYS = ['PRIVATE_KEY', 'WORKER_KEY'] as const;
/** Read or follow the book that SESSION opens, and neither register nor pay. */
const BY_SESSION: ReadonlySet<string> = new Set(['follow-book', 'reconcile-month']);
const START = 'start it with `npm start` in another terminal';

interface Example {
  readonly name: string;
  readonly source: string;
}

async function findExamples(): Promise<readonly Example[]> {
  const files = (await readdir(FOLDER)).filter(file => file.endsWith('.ts')).sort();
  return Promise.all(
    files.map(async file => ({ name: file.slice(0, -3), source: await readFile(join(FOLDER, file), 'utf8') })),
  );
}

/** Each with the first line of its comment. */
function listOf(examples: readonly Example[]): string {
  const width = Math.max(...examples.map(({ name }) => name.length));
  const lines = examples.map(({ name, source }) => `  ${name.padEnd(width)}  ${/^ \* (.+)/m.exec(source)?.[1]}`);
  return ['npm run example -- NAME', ...lines].join('\n');
}

/** Sets what the example needs and the environment lacks. @throws OperatorFault if it is nowhere to be had */
async function fillIn({ name: example, source }: Example): Promise<void> {
  const development = await readDevelopmentFile(readConfig().data_dir);
  process.env.SERVICE_URL ??= development?.url ?? 'http://127.0.0.1:4000';
  const { SERVICE_URL, SESSION } = process.env;
  const answerer = await answererAt(SERVICE_URL);
  if (answerer !== 'service')
    throw new OperatorFault(
      answerer === 'nobody'
        ? `No service answers at ${SERVICE_URL}: ${START}, or set SERVICE_URL.`
        : `Another program answers at ${SERVICE_URL}, and gets no payment: stop it and start the service with \`npm start\`, or set SERVICE_URL.`,
    );
  const takes_session = /\bSESSION\b[^}]*\} = process\.env/.test(source);
  for (const name of KEYS) {
    if (process.env[name] || !source.includes(name)) continue;
    if (SESSION && takes_session) {
      if (BY_SESSION.has(example)) continue;
      // A new wallet would pay for another book than the one that the example watches.
      throw new OperatorFault(
        `${name} is not set: set it to the private key of the wallet whose book SESSION opens, or unset SESSION for a new wallet.`,
      );
    }
    const key = development?.url === SERVICE_URL ? await newDevelopmentWallet(development) : null;
    if (key === null)
      throw new OperatorFault(
        `${name} is not set: set it to the private key (0x and 64 hex digits) of a wallet with USDC on Base.`,
      );
    process.env[name] = key;
    console.error(`${name} is not set: ${privateKeyToAddress(key)} is used, a new wallet with 1 USDC for development.`);
  }
}

await run(async () => {
  const [name, ...words] = process.argv.slice(2);
  const examples = await findExamples();
  if (name === undefined) return console.log(listOf(examples));
  const example = examples.find(known => known.name === name);
  if (!example) throw new UsageFault(`There is no example ${name}.\n${listOf(examples)}`);
  await fillIn(example);
  const file = join(FOLDER, `${name}.ts`);
  process.argv = [process.execPath, file, ...words];
  await import(pathToFileURL(file).href);
});
