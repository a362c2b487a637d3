import { execFile, spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { getAddress } from 'viem';
import { beforeAll, describe, expect, it } from 'vitest';
import { ConfigFault } from '../../gateway/config/fault.ts';
import { variablesWithoutEffect } from '../../gateway/config/idle-variables.ts';
import { readConfig } from '../../gateway/config/read-config.ts';
import { sha256Hex } from '../../schema/digest.ts';
import { runCommand } from '../harness/commands/run.ts';
import { ask, type Service, sharedService } from '../harness/doors/open-service.ts';
import { withParentDeathSignal } from '../harness/parent-death-signal.ts';
import { atEnd } from '../harness/release.ts';
import { ROOT } from '../harness/root.ts';
import { ownFolder } from '../harness/scratch.ts';
import { curl, shellWords } from '../harness/shell-words.ts';

/* The commands and programs of docs/, as they are printed there, but for the service's address and the folder of files. */

const run = promisify(execFile);
const ADDRESS = '127.0.0.1:4000';

type Page = 'call' | 'watch' | 'check' | 'run';
const pages = Object.fromEntries(
  await Promise.all(
    (['call', 'watch', 'check', 'run'] as const).map(async name => [
      name,
      await readFile(join(ROOT, `docs/${name}.md`), 'utf8'),
    ]),
  ),
) as Record<Page, string>;

function blocks(page: Page, language: string): readonly string[] {
  return [...pages[page].matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, text = '']) => text,
  );
}

const commandsOf = (page: Page) =>
  blocks(page, 'sh')
    .flatMap(block => block.trim().split('\n'))
    .filter(line => !line.startsWith('export '));

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
let folder: string;
let verify_url: string;
beforeAll(async () => {
  [service, folder] = await Promise.all([sharedService(), ownFolder()]);
  agent = await service.newAgent();
  verify_url = (await service.buy(agent.account, ask())).body.svc.verify_url;
});

const here = (text: string) => text.replaceAll(ADDRESS, new URL(service.url).host);

/** A program of a page as a file that finds the project's packages. */
async function written(name: string, program: string): Promise<string> {
  const file = join(folder, name);
  const packages = /'(@x402[^']+|jose|graphql-ws|viem[^']+|spend-receipt-gateway[^']+)'/g;
  await writeFile(
    file,
    here(program).replace(packages, (_, specifier: string) => `'${import.meta.resolve(specifier)}'`),
  );
  return file;
}

/** Runs a command of a page: what it wrote, or what was answered. @throws where it fails */
async function ran(line: string): Promise<string> {
  const variables = { AGENT: String(agent.agent_id), SESSION: agent.session, VERIFY_URL: verify_url };
  const { program, args, session } = await shellWords(here(line), variables);
  if (program === 'curl') {
    const { answer, file } = await curl(args);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${answer.status}: ${text}`);
    if (file !== null) await writeFile(join(folder, file), text);
    return text;
  }
  const [npm_run, name = '', , ...words] = args;
  expect([program, npm_run]).toEqual(['npm', 'run']);
  const inFolder = words.map(word => (/^[\w-]+\.(csv|zip|json)$/.test(word) ? join(folder, word) : word));
  const environment = { SVC_SESSION: session, PORT: new URL(service.url).port, XDG_STATE_HOME: folder };
  const { code, text } = await runCommand(`gateway/commands/${name}.ts`, inFolder, { environment });
  if (code !== 0) throw new Error(`exit code ${code}: ${text}`);
  return text;
}

describe('docs/call.md', () => {
  it('its programs, in one file, buy a chat, read a stream and register', async () => {
    const file = await written('buy.ts', blocks('call', 'ts').join('\n'));
    const wallet = await service.chain.newWallet();
    const environment = { PATH: process.env.PATH, PRIVATE_KEY: wallet.private_key };
    const { stdout } = await run(process.execPath, [file], { env: environment });
    const [bought, streamed, registered] = stdout.trim().split('\n').slice(-3);
    expect(bought).toMatch(/ http:\S+\/receipt\/task_\w+$/);
    expect(streamed).toMatch(/^receipt task_\w+$/);
    expect(registered).toMatch(/^agent \d+ svcs_\S+ 200$/);
    expect(await service.transfersFrom(wallet)).toHaveLength(4);
  });

  it('its command takes the key of a development wallet', async () => {
    const [line = ''] = blocks('call', 'sh');
    await mkdir(join(folder, '.data'));
    await writeFile(join(folder, '.data/development.json'), '{"wallets":[{"private_key":"0x01"}]}');
    const { stdout } = await run('sh', ['-c', `${line}\nprintenv PRIVATE_KEY`], {
      cwd: folder,
      env: { PATH: process.env.PATH },
    });
    expect(stdout.trim()).toBe('0x01');
  });
});

describe('docs/watch.md', () => {
  it.each(commandsOf('watch'))('its command runs: %s', async line => {
    expect(await ran(line)).not.toBe('');
  });

  it('its query of a dashboard is answered', async () => {
    const [query = ''] = blocks('watch', 'graphql');
    const { body } = await service.post(
      '/graphql',
      { query, variables: { agentId: agent.agent_id } },
      {
        'X-SVC-Session': agent.session,
      },
    );
    expect(body).toMatchObject({ data: { book: { spent: '4000', entries: [{ seq: 2 }, { seq: 1 }] } } });
    expect(body).not.toHaveProperty('errors');
  });

  it('its program shows the rows of the book', async () => {
    const file = await written('rows.mjs', blocks('watch', 'js')[0] ?? '');
    const environment = { PATH: process.env.PATH, AGENT: String(agent.agent_id), SESSION: agent.session };
    const child = spawn(...withParentDeathSignal(process.execPath, [file]), {
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    atEnd(() => void child.kill('SIGKILL'));
    const lines: string[] = [];
    createInterface(child.stdout).on('line', line => lines.push(line));
    await expect.poll(() => lines.length).toBeGreaterThanOrEqual(2);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ position: 1, row: { payment: { amount: '2000' } } });
    child.kill('SIGKILL');
  });
});

describe('docs/check.md', () => {
  it.each(commandsOf('check'))('its command runs: %s', async line => {
    expect(await ran(line)).not.toBe('');
  });

  it('its twelve lines verify a receipt, and refuse one that was altered', async () => {
    const keys = JSON.stringify(await service.jwks());
    const receipt = await (await fetch(`${verify_url}.json`)).text();
    await writeFile(join(folder, 'jwks.json'), keys);
    const program = await written('verify.mjs', blocks('check', 'js')[0] ?? '');
    const verify = async (text: string) => {
      await writeFile(join(folder, 'receipt.json'), text);
      return run(process.execPath, [program], { cwd: folder });
    };
    expect((await verify(receipt)).stdout).toMatch(/^0x[0-9a-fA-F]{40} paid 2000 in base:0x[0-9a-f]{64}\n$/);
    await expect(verify(receipt.replace(/"payload_hash":"./, '"payload_hash":"x'))).rejects.toThrow(
      'is not what was signed',
    );
  });
});

describe('docs/run.md', () => {
  const inText = [...pages.run.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`]*\bnpm [^`]*)`/g)];
  const printed = [...commandsOf('run'), ...inText.flatMap(([, line = '']) => line.split(' && '))];
  const ofProject = printed.filter(line => /\bnpm (run|start)\b/.test(line));

  it.each(ofProject)('its command is a script of the project: %s', async line => {
    const { program, args } = await shellWords(line, {});
    const [first, name = first] = args;
    const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    expect([program, Object.keys(scripts)]).toEqual(['npm', expect.arrayContaining([name])]);
  });

  // Each would run for as long as the service does, or change its log: what they do has tests of its own.
  it.each(ofProject.filter(line => line.includes(' -- ')))(
    'its words are taken, and one more is not: %s',
    async line => {
      const { args } = await shellWords(line, {});
      const [, name = '', , ...words] = args;
      const command = `gateway/commands/${name}.ts`;
      // Settings are read after the words.
      const environment = { PORT: 'x' };
      expect(await runCommand(command, words, { environment })).toMatchObject({
        code: 1,
        err: expect.stringMatching(/^PORT: /),
      });
      expect(await runCommand(command, [...words, 'more'], { environment })).toMatchObject({
        code: 2,
        err: expect.stringContaining(`usage: npm run ${name} -- `),
      });
    },
  );

  it('its settings are all that production needs, and none of them is without effect', () => {
    const lines = (blocks('run', 'ini')[0] ?? '').trim().split('\n');
    const random = (name: string, value: string) =>
      name.startsWith('PAY_TO') ? getAddress(`0x${'22'.repeat(20)}`) : value.replace('…', sha256Hex(`run.md: ${name}`));
    const environment = Object.fromEntries(
      lines.map(line => {
        const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
        return [name, value.includes('…') ? random(name, value) : value];
      }),
    );
    const faults = () => {
      try {
        return readConfig(environment).profile;
      } catch (error) {
        return error instanceof ConfigFault ? error.faults : error;
      }
    };
    expect(faults()).toBe('production');
    expect(variablesWithoutEffect(environment)).toEqual([]);
  });
});
