import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { sentenceOf } from '../../../gateway/operations/run.ts';
import { databaseFault } from '../../../gateway/operations/start-faults.ts';
import { ChainAway, OtherChain } from '../../../gateway/rails/epoch.ts';
import { runCommand } from '../../harness/commands/run.ts';
import { startGateway } from '../../harness/gateway.ts';
import { databaseUrl } from '../../harness/global.ts';
import { ownPort } from '../../harness/own-port.ts';
import { withParentDeathSignal } from '../../harness/parent-death-signal.ts';
import { atEnd } from '../../harness/release.ts';
import { ROOT } from '../../harness/root.ts';
import { clearScratch, makeScratch } from '../../harness/scratch.ts';

/* What an operator reads if a start fails: one line that names the variable and what to do, and no stack. */

const SECRET = 'hidden-from-everybody';

type Environment = Readonly<Record<string, string>>;

let data_dir: string;
/** Starts no stand-in, so that a start is cheap. */
let needful: Environment;
beforeAll(async () => {
  data_dir = await makeScratch();
  atEnd(() => clearScratch(data_dir));
  needful = {
    DATA_DIR: data_dir,
    DATABASE_URL: inject('cluster_url'),
    BASE_RPC_URL: 'http://127.0.0.1:1',
    SOLANA_RPC_URL: '',
    PORT: String(await ownPort()),
  };
});

interface ProgramEnd {
  readonly code: number | null;
  readonly said: string;
  readonly shown: string;
}

async function runProgram([entry = '', ...words]: readonly string[], given: Environment): Promise<ProgramEnd> {
  const { code, out, err } = await runCommand(entry, words, { environment: { HOME: data_dir, ...given } });
  return { code, said: err, shown: out };
}

/** The same as a process of its own. */
async function runProcess(program: readonly string[], given: Environment): Promise<ProgramEnd> {
  const env = { PATH: process.env.PATH, HOME: data_dir, ...given };
  const child = spawn(...withParentDeathSignal(process.execPath, ['gateway/launch.js', ...program]), {
    cwd: ROOT,
    env,
    stdio: 'pipe',
  });
  atEnd(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const [said, shown, [code]] = await Promise.all([text(child.stderr), text(child.stdout), exited]);
  return { code, said, shown };
}

/** The error for wrong arguments of a program without a usage text. */
async function misuse(...program: string[]): Promise<string> {
  return refused(await runProgram(program, needful), 2);
}

async function refusal(given: Environment, ...program: string[]): Promise<string> {
  return refused(await runProgram(program.length > 0 ? program : ['gateway/main.ts'], { ...needful, ...given }));
}

/** The error of `npm run verify`, which exits with 3 if it could not read the document. */
async function unread(source: string): Promise<string> {
  return refused(await runProgram(['gateway/commands/verify.ts', source], needful), 3);
}

function refused({ code, said }: ProgramEnd, expected = 1): string {
  expect(said).not.toContain(SECRET);
  expect(said).toMatch(/^[^\n]+\n$/);
  expect(code).toBe(expected);
  return said;
}

async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(() => server.close());
  return (server.address() as AddressInfo).port;
}

const withUser = (user: string, password: string) =>
  Object.assign(new URL(needful.DATABASE_URL ?? ''), { username: user, password }).href;

describe('npm start says in one line', () => {
  it('PORT is taken', async () => {
    const port = await listening(createServer());
    expect(refused(await runProcess(['gateway/main.ts'], { ...needful, PORT: String(port) }))).toBe(
      `PORT: ${port} is in use on 127.0.0.1; stop the process that listens there, or set PORT to another port\n`,
    );
  });

  it('HOST is no address of this machine', async () => {
    expect(await refusal({ HOST: '203.0.113.9' })).toMatch(/^HOST: 203\.0\.113\.9 is not an address of this machine; /);
  });

  it('DATA_DIR is a file, lies below one, or takes no folder', async () => {
    const file = join(data_dir, 'a-file');
    await writeFile(file, '');
    const way_on = 'name a folder that this user may write to\n';
    expect(await refusal({ DATA_DIR: file })).toBe(`DATA_DIR: ${file} is not a folder; ${way_on}`);
    expect(await refusal({ DATA_DIR: join(file, 'data') })).toContain(
      `is below a path that is not a folder; ${way_on}`,
    );
    expect(await refusal({ DATA_DIR: '/proc/data' })).toMatch(new RegExp(`^DATA_DIR: /proc/data .*; ${way_on}$`));
  });

  it('DATABASE_URL names what is not there, and never shows its password', async () => {
    const gone = `postgresql://svc:${SECRET}@127.0.0.1:1/svc`;
    expect(await refusal({ DATABASE_URL: gone })).toMatch(
      /^DATABASE_URL: the server at 127\.0\.0\.1:1 does not accept connections: /,
    );
    const unknown = `postgresql://svc:${SECRET}@nowhere.invalid/svc`;
    expect(await refusal({ DATABASE_URL: unknown })).toMatch(
      /^DATABASE_URL: the server at nowhere\.invalid:5432 has (an unknown host name|a host name that)/,
    );
  });

  it('DATABASE_URL is refused: password, user, database, and what is no Postgres at all', async () => {
    const server = `the server at ${new URL(needful.DATABASE_URL ?? '').host}`;
    expect(await refusal({ DATABASE_URL: withUser('svc', SECRET) })).toContain(`${server} rejects the password; `);
    const none = databaseUrl(needful.DATABASE_URL ?? '', 'no_such_database');
    expect(await refusal({ DATABASE_URL: none })).toContain(`${server} has no database of that name; `);
    const port = await listening(createServer(socket => socket.destroy()));
    expect(await refusal({ DATABASE_URL: `postgresql://svc:${SECRET}@127.0.0.1:${port}/svc` })).toMatch(
      /^DATABASE_URL: /,
    );
  });

  it('SOLANA_RPC_URL does not answer', async () => {
    expect(await refusal({ SOLANA_RPC_URL: `http://127.0.0.1:1/${SECRET}` })).toMatch(
      /^SOLANA_RPC_URL: does not answer; /,
    );
  });

  it('BASE_RPC_URL is a node of another chain', async () => {
    const node = createHttpServer((_, answer) => answer.end(JSON.stringify({ jsonrpc: '2.0', id: 0, result: '0x1' })));
    expect(await refusal({ BASE_RPC_URL: `http://127.0.0.1:${await listening(node)}/${SECRET}` })).toMatch(
      /^BASE_RPC_URL is a node of chain 1, and base is chain 8453\. /,
    );
  });

  it('HUBS cannot be read, and shows no key of it', async () => {
    const HUBS = `[{"name": "one", "base_url": "ftp://x", "api_key": "${SECRET}", "models": ["m"]}]`;
    expect(await refusal({ HUBS })).toMatch(
      /^HUBS\.0\.base_url: not an http\(s\) URL \(see gateway\/config\/README\.md\)/,
    );
  });

  it('which of several variables are wrong: one line each', async () => {
    const given = { PORT: 'x', HUBS: '{', SEAL_KEY: 'short' };
    const { code, said } = await runProcess(['gateway/main.ts'], { ...needful, ...given });
    expect(
      said
        .trimEnd()
        .split('\n')
        .map(line => line.split(':')[0])
        .sort(),
    ).toEqual(Object.keys(given).sort());
    expect(code).toBe(1);
  });
});

it('starts without Base, and says so in one line that names BASE_RPC_URL', async () => {
  const gateway = await startGateway({
    environment: { ...needful, BASE_RPC_URL: `http://127.0.0.1:1/${SECRET}`, PORT: String(await ownPort()) },
    await_health: false,
  });
  const rpcLines = () => gateway.logs.filter(it => it.includes('BASE_RPC_URL'));
  await expect.poll(rpcLines).toHaveLength(1);
  const [line = ''] = rpcLines();
  expect(JSON.parse(line)).toMatchObject({
    level: 40,
    msg: 'BASE_RPC_URL does not answer (ECONNREFUSED); no payments are accepted until it does. It is tried again every 2 seconds',
  });
  expect(gateway.logs.join('\n')).not.toContain(SECRET);
});

describe('the sentence of a fault', () => {
  it('is its own, in one line, where its thrower knew no operator; a fault of our own has none', () => {
    expect(sentenceOf(new OtherChain('paid on\n  another chain'))).toBe(
      'paid on another chain. BASE_RPC_URL, SOLANA_RPC_URL and DATABASE_URL must belong to the same service.',
    );
    expect(sentenceOf(new ChainAway('the chain cannot be reached'))).toMatch(
      /^the chain .* BASE_RPC_URL .* set it to one/,
    );
    expect([new TypeError('a bug'), 'a string', undefined].map(sentenceOf)).toEqual([null, null, null]);
  });

  it('leaves what a migration found wrong to its stack', () => {
    const fault = Object.assign(new Error('relation "x" does not exist'), { code: '42P01' });
    expect(databaseFault(fault, 'postgresql://svc@db.example/svc')).toBe(fault);
  });
});

describe('so do', () => {
  const gone = () => ({ DATABASE_URL: `postgresql://svc:${SECRET}@127.0.0.1:1/svc` });

  it('npm run subgraph, of its port and of the database', async () => {
    const port = await listening(createServer());
    const book = ['gateway/commands/subgraph.ts', 'book'];
    expect(await refusal({ PORT: String(port) }, ...book)).toMatch(/^PORT: /);
    expect(refused(await runProcess(book, { ...needful, ...gone() }))).toMatch(/^DATABASE_URL: /);
  });

  it.each([['gateway/commands/anchor.ts'], ['gateway/commands/accept-log-break.ts', 'a reason']])(
    '%s, of the database',
    async (...program) => {
      expect(await refusal(gone(), ...program)).toMatch(/^DATABASE_URL: /);
    },
  );

  it.each(['gateway/main.ts', 'gateway/commands/anchor.ts', 'gateway/commands/mcp.ts'])(
    '%s, of a word that it does not read',
    async program => {
      expect(await misuse(program, '--port=5000')).toMatch(/^--port=5000: this command takes no arguments; /);
    },
  );

  it('npm run demo where no service has run, where it has ended, and where another program has taken its port', async () => {
    const empty = await makeScratch();
    atEnd(() => clearScratch(empty));
    const demo = 'gateway/commands/demo.ts';
    const way_on = 'start it with `npm start`, and run `npm run demo` in a second terminal.';
    expect(await refusal({ DATA_DIR: empty }, demo)).toBe(
      `No development service has run on ${empty} (DATA_DIR): ${way_on}\n`,
    );
    const development = (port: number) =>
      writeFile(join(empty, 'development.json'), JSON.stringify({ url: `http://127.0.0.1:${port}` }));
    const gone = await ownPort();
    await development(gone);
    expect(await refusal({ DATA_DIR: empty }, demo)).toBe(
      `No service answers at http://127.0.0.1:${gone}, where the last service with DATA_DIR ${empty} ran: ${way_on}\n`,
    );
    const other = await listening(createHttpServer((_, answer) => answer.end('<h1>Another</h1>')));
    await development(other);
    expect(await refusal({ DATA_DIR: empty }, demo)).toMatch(
      new RegExp(`^Another program answers at http://127\\.0\\.0\\.1:${other}: stop it, or set PORT `),
    );
  });

  it('npm run demo with an argument that it does not know', async () => {
    expect(await misuse('gateway/commands/demo.ts', '--loud')).toMatch(
      /^--loud: npm run demo takes no argument but --verbose /,
    );
  });

  it.each(['verify', 'accept-log-break', 'witness'])(
    'npm run %s -- --help is told its usage, and nothing is done',
    async name => {
      const { code, said, shown } = await runProcess([`gateway/commands/${name}.ts`, '--help'], {});
      expect({ code, said }).toEqual({ code: 0, said: '' });
      expect(shown).toMatch(new RegExp(`^usage: npm run ${name} -- `));
    },
  );

  it('npm run accept-log-break publishes no option as the reason of a break', async () => {
    const { code, said } = await runProgram(['gateway/commands/accept-log-break.ts', '--yes'], needful);
    expect({ code, said }).toEqual({ code: 2, said: expect.stringMatching(/^usage: /) });
  });

  it.each([
    ['accept-log-break', ['restored', 'the', 'backup']],
    ['subgraph', ['book', 'board']],
    ['accept-changed', ['PORT']],
    ['verify', ['a.json', 'b.json']],
    ['witness', ['http://127.0.0.1:9', 'http://127.0.0.1:9']],
  ])('npm run %s with more words than it reads does nothing', async (name, words) => {
    expect(await runProgram([`gateway/commands/${name}.ts`, ...words], needful)).toMatchObject({ code: 2 });
  });

  it.each([
    ['reconcile', ['--wallet', '0x1', '--from', '0', '--to', '0'], '0x1 is not an address; '],
    ['reconcile', ['--nothing'], "Unknown option '--nothing'"],
    ['witness', ['--nothing'], "Unknown option '--nothing'"],
    ['export', ['--nothing'], "Unknown option '--nothing'"],
    ['revoke-key', ['--nothing'], "Unknown option '--nothing'"],
    ['revoke-key', ['kid', 'stolen', '--since', 'may'], '--since may is not an ISO 8601 time'],
    ['verify', ['--nothing'], "Unknown option '--nothing'"],
    ['verify', ['a.json', '--rpc', 'x'], '--rpc requires a URL'],
  ])('npm run %s %j ends with 2, what is wrong and the usage', async (name, words, wrong) => {
    const { code, said, shown } = await runProgram([`gateway/commands/${name}.ts`, ...words], needful);
    expect({ code, shown }).toEqual({ code: 2, shown: '' });
    expect(said.startsWith(wrong)).toBe(true);
    expect(said).toContain(`\nusage: ${name === 'export' ? 'SVC_SESSION=... ' : ''}npm run ${name} -- `);
  });

  it('npm run verify, of a file that is not there, one that holds no document, and a URL that does not answer', async () => {
    expect(await unread('/no/such.json')).toMatch(/^\/no\/such\.json: there is no such file; /);
    expect(await unread(join(ROOT, 'LICENSE'))).toMatch(/LICENSE is not a JSON object in UTF-8, /);
    const url = `http://127.0.0.1:${await ownPort()}/receipt/x.json`;
    expect(await unread(url)).toBe(
      `${url} does not answer (ECONNREFUSED); check the address, and whether the service runs\n`,
    );
  });
});
