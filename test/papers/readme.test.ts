import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { privateKeyToAccount } from 'viem/accounts';
import { beforeAll, describe, expect, it } from 'vitest';
import { paymentFor } from '../harness/buyer.ts';
import { type RunningGateway, startGateway } from '../harness/gateway.ts';
import { ROOT } from '../harness/root.ts';
import { makeScratch } from '../harness/scratch.ts';

const run = promisify(execFile);
const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
const client = await readFile(join(ROOT, 'rest-compat/client/README.md'), 'utf8');
const blocks = (language: string, page = readme) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(match => match[1] ?? '');

let service: RunningGateway;
beforeAll(async () => {
  // The embedded default as a newcomer gets it: only its folder and its port are set.
  service = await startGateway({ solana: true });
});

const here = (command: string) => command.replaceAll('http://127.0.0.1:4000', service.url);
/** Without the environment of the test runner, which sets BASE_URL to something else. */
const environment = () => ({
  PATH: process.env.PATH,
  HOME: service.data_dir,
  DATA_DIR: service.data_dir,
  PORT: new URL(service.url).port,
});

/** A line of the transcript as a pattern: `…` represents what differs or is left out, and `←` begins a remark. */
function shown(line: string): RegExp {
  const parts = line.replace(/ *←.*/, '').split('…');
  return new RegExp(parts.map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*?'), 'is');
}

const read = new WeakMap<Response, Promise<string>>();
/** An answer as it would appear in a transcript: status, headers, body. */
async function transcriptOf(answer: Response): Promise<string> {
  const body = read.get(answer) ?? answer.text();
  read.set(answer, body);
  const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${answer.status} ${answer.statusText}`, ...headers, await body].join('\n');
}

describe('README', () => {
  it('its transcript is what the service says, from the 402 to the receipt', async () => {
    const [, asked = '', paid = '', answered = ''] = (blocks('http')[0] ?? '').trim().split('\n\n');
    const door = `${service.url}/v1/chat/completions`;
    const unpaid = await fetch(door, { method: 'POST' });
    for (const line of asked.split('\n')) expect(await transcriptOf(unpaid)).toMatch(shown(line));

    const { wallets } = JSON.parse(await readFile(join(service.data_dir, 'development.json'), 'utf8'));
    const payment = await paymentFor(privateKeyToAccount(wallets[0].private_key), door);
    const [request = '', signature = '', body = ''] = paid.split('\n');
    expect(request).toBe('POST /v1/chat/completions HTTP/1.1');
    expect(`PAYMENT-SIGNATURE: ${payment['PAYMENT-SIGNATURE']}`).toMatch(shown(signature));
    const headers = { ...payment, 'content-type': 'application/json' };
    const answer = await fetch(door, { method: 'POST', headers, body });
    for (const line of answered.split('\n')) expect(await transcriptOf(answer)).toMatch(shown(here(line)));
  });

  it('its commands are to start the service, as above, and the demo, as below', () => {
    const commands = blocks('sh').flatMap(block => block.trim().split('\n'));
    expect(commands).toEqual(['npm install && npm start', 'npm run demo']);
  });

  it('its demo shows a paid chat, an offline check, a registration, the book twice and a live row', async () => {
    const { stdout } = await run('npm', ['run', '-s', 'demo'], { cwd: ROOT, env: environment(), maxBuffer: 2 ** 24 });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(20);
    expect(lines).toEqual([
      `The service answers at ${service.url}.`,
      expect.stringMatching(/without a payment: 402 Payment Required/),
      expect.stringMatching(/for 0\.002 USDC on base or solana, by the x402 protocol/),
      expect.stringMatching(/^Created a wallet, 0x/),
      expect.stringMatching(/^Signed a payment /),
      expect.stringMatching(/^The answer, from \S+: ".*What is a spend receipt/),
      expect.stringMatching(/^The transfer on the chain is base:0x[0-9a-f]{64}\.$/),
      expect.stringMatching(/signed receipt, task_\w{26}, which is leaf \d+ of the public log/),
      expect.stringMatching(/^Verified the receipt/),
      expect.stringMatching(/the signature of the copy is not valid/),
      expect.stringMatching(/^Registered the wallet, .* agent \d+,/),
      'Read the book by REST: 0.002 USDC spent in 1 row.',
      'Read the book by GraphQL: 0.002 USDC spent in 1 row.',
      expect.stringMatching(/^Subscribed to the book over graphql-ws/),
      expect.stringMatching(/^The row of that chat arrived live: task_\w{26}, event 2 of the book/),
      expect.stringMatching(/^Paid for a third chat on Solana, from [1-9A-HJ-NP-Za-km-z]{32,44}, /),
      expect.stringMatching(/npm run verify -- http/),
      expect.stringMatching(
        /^Open the first receipt in a browser, which verifies it there: http:\S+\/receipt\/task_\w{26}$/,
      ),
    ]);
  });

  it('its log is anchored on its own chain by itself, with a key that has gas there', async () => {
    const health = async () => (await fetch(`${service.url}/health`)).json();
    await expect
      .poll(health)
      .toMatchObject({ last_anchored_tx: expect.stringMatching(/^0x[0-9a-f]{64}$/), anchor: { trouble: null } });
  });

  it('says at its start, in /health and on every receipt that it is a development profile', async () => {
    const health = (await (await fetch(`${service.url}/health`)).json()) as { profile: string; stand_ins: string[] };
    expect(health).toMatchObject({ profile: 'development' });
    expect(health.stand_ins).toEqual(expect.arrayContaining(['DATABASE_URL', 'BASE_RPC_URL', 'HUBS', 'ISSUER_KEYS']));
    await expect.poll(() => service.logs.join('\n')).toContain('no real money moves');
  });

  it('its recipe pays for a chat by the official OpenAI client, once', async () => {
    const [recipe = ''] = blocks('ts', client);
    const here_alone = /'(@x402[^']+|openai|viem[^']+|spend-receipt-gateway[^']+)'/g;
    const resolved = recipe.replace(here_alone, (_, name: string) => `'${import.meta.resolve(name)}'`);
    const program = join(await makeScratch(), 'pay.ts');
    await writeFile(program, resolved.replaceAll('http://127.0.0.1:4000', service.url));
    const { wallets } = JSON.parse(await readFile(join(service.data_dir, 'development.json'), 'utf8'));
    const environment = { PATH: process.env.PATH, PRIVATE_KEY: wallets[0].private_key };
    const { stdout } = await run(process.execPath, [program], { env: environment });
    expect(stdout).toContain('What is a spend receipt?');
  });
});
