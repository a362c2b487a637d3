import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { privateKeyToAddress } from 'viem/accounts';
import { OperatorFault, UsageFault } from '../config/fault.ts';
import { readConfig } from '../config/read-config.ts';
import { probeService, readDevelopmentFile } from '../operations/development-file.ts';
import { run } from '../operations/run.ts';
import { newDevelopmentWallet } from './development-wallet.ts';
import { type ExampleNeeds, exampleNeeds } from './example/needs.ts';

/*
 * `npm run example -- NAME`: runs a program of rest-compat/client/examples unchanged; without a name it lists them. An example
 * reads SERVICE_URL and the keys of its wallets from the environment. Variables that are not set are set here from the running
 * development service, with a new wallet for each run, so that an example may register it. Node runs this file directly, because
 * the examples are not built.
 */

const FOLDER = join(import.meta.dirname, '../../rest-compat/client/examples');
const START = 'start it with `npm start` in another terminal';

const fileOf = (name: string) => join(FOLDER, `${name}.ts`);

/** Lists the examples, each with the first line of its comment. */
async function listExamples(): Promise<string> {
  const names = [...exampleNeeds.keys()];
  const width = Math.max(...names.map(name => name.length));
  const lines = names.map(async name => {
    const [, sentence] = /^ \* (.+)/m.exec(await readFile(fileOf(name), 'utf8')) ?? [];
    return `  ${name.padEnd(width)}  ${sentence}`;
  });
  return ['npm run example -- NAME', ...(await Promise.all(lines))].join('\n');
}

/** Sets the variables that the example needs and the environment lacks. @throws OperatorFault if a value cannot be found */
async function fillIn({ keys, session }: ExampleNeeds): Promise<void> {
  const development = await readDevelopmentFile(readConfig().data_dir);
  process.env.SERVICE_URL ??= development?.url ?? 'http://127.0.0.1:4000';
  const { SERVICE_URL, SESSION } = process.env;
  await requireService(SERVICE_URL);
  const reads_only = session === 'in_place_of_key' && SESSION;
  for (const name of keys) {
    if (process.env[name] || reads_only) continue;
    // A new wallet would pay for another book than the book that the example watches.
    if (session === 'with_key' && SESSION)
      throw new OperatorFault(
        `${name} is not set: set it to the private key of the wallet whose book SESSION opens, or unset SESSION for a new wallet.`,
      );
    const key = development?.url === SERVICE_URL ? await newDevelopmentWallet(development) : null;
    if (key === null)
      throw new OperatorFault(
        `${name} is not set: set it to the private key (0x and 64 hex digits) of a wallet with USDC on Base.`,
      );
    process.env[name] = key;
    console.error(`${name} is not set: ${privateKeyToAddress(key)} is used, a new wallet with 1 USDC for development.`);
  }
}

/** @throws OperatorFault if no service responds at that URL */
async function requireService(url: string): Promise<void> {
  const answerer = await probeService(url);
  if (answerer === 'service') return;
  throw new OperatorFault(
    answerer === 'nobody'
      ? `No service answers at ${url}: ${START}, or set SERVICE_URL.`
      : `Another program answers at ${url}, and gets no payment: stop it and start the service with \`npm start\`, or set SERVICE_URL.`,
  );
}

await run(async () => {
  const [name, ...words] = process.argv.slice(2);
  if (name === undefined) return console.log(await listExamples());
  const needs = exampleNeeds.get(name);
  if (!needs) throw new UsageFault(`There is no example ${name}.\n${await listExamples()}`);
  await fillIn(needs);
  const file = fileOf(name);
  process.argv = [process.execPath, file, ...words];
  await import(pathToFileURL(file).href);
});
