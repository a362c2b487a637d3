import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { getBase58Encoder } from '@solana/kit';
import { describe, expect, it } from 'vitest';
import { ConfigFault } from '../../../gateway/config/fault.ts';
import { variablesWithoutEffect } from '../../../gateway/config/idle-variables.ts';
import { completeConfig, readConfig, readSubgraphConfig } from '../../../gateway/config/read-config.ts';
import { solanaWallet } from '../../../gateway/development/svm/wallets.ts';
import { sha256, sha256Hex } from '../../../schema/digest.ts';
import { atEnd } from '../../harness/release.ts';
import { clearScratch, makeScratch } from '../../harness/scratch.ts';

const KEY = 'a1'.repeat(32);
/** 64 hex digits, different for each name. */
const secret = (name: string) => sha256Hex(`a secret of the tests: ${name}`);

/** All variables that production requires, with Base alone. */
const production = {
  NODE_ENV: 'production',
  BASE_URL: 'https://pay.example/',
  DATABASE_URL: 'postgresql://svc@db.example/svc?sslmode=require',
  BASE_RPC_URL: 'https://base.example/rpc',
  FACILITATOR_KEYS: `0x${secret('facilitator')}`,
  PAY_TO_BASE: '0x2222222222222222222222222222222222222222',
  HUBS: JSON.stringify([{ name: 'one', base_url: 'https://hub.example/v1/', api_key: 'k', models: ['m'] }]),
  ISSUER_KEYS: `${secret('issuer')},0x${secret('retired').toUpperCase()}`,
  SEAL_KEY: secret('seal'),
  SUBGRAPH_SECRET: secret('subgraph'),
  ANCHOR_KEY: secret('anchor'),
  API_KEYS: 'a-live-key-of-one, a-live-key-of-two',
  DEMO_KEYS: '',
  WAIVER_KEYS: '',
  BOARD_OPS_SECRET: secret('ops'),
  BOARD_INBOUND_SECRET: secret('inbound'),
  SOLANA_RPC_URL: '',
  SOLANA_FEE_PAYER_KEY: '',
  PAY_TO_SOLANA: '',
  ROUTER_URL: '',
};

function faultsOf(environment: Record<string, string | undefined>): Record<string, string> {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigFault) {
      return Object.fromEntries(error.faults.map(({ variable, problem }) => [variable, problem]));
    }
    throw error;
  }
  return {};
}

async function scratch(): Promise<string> {
  const folder = await makeScratch();
  atEnd(() => clearScratch(folder));
  return folder;
}

describe('readConfig', () => {
  it('an empty environment is a development profile on 127.0.0.1:4000', () => {
    const config = readConfig({});
    expect(config).toMatchObject({
      base_url: 'http://127.0.0.1:4000',
      data_dir: '.data',
      database_url: null,
      hubs: null,
    });
    expect(config.profile).toBe('development');
    expect(config.stand_ins).toContain('BASE_RPC_URL');
  });

  it.each([
    [undefined, null],
    ['on', 'on'],
    ['off', 'off'],
  ])('INTROSPECTION %s is kept as %s: unset, the profile decides', (INTROSPECTION, kept) => {
    expect(readConfig({ INTROSPECTION }).introspection).toBe(kept);
    expect(faultsOf({ INTROSPECTION: 'maybe' })).toHaveProperty('INTROSPECTION');
  });

  it('all faults are reported at once, by the names of the variables and without their values', () => {
    const environment = {
      PORT: '70000',
      HUB_TIMEOUT_MS: '0',
      DATABASE_URL: 'mysql://x',
      FACILITATOR_KEYS: `0x${KEY},0x12`,
      PAY_TO_BASE: '0x833589fcD6EDB6e08F4C7c32D4F71B54bDA02913',
      HUBS: '[{"name":"one","base_url":"ftp://x","api_key":"hidden","models":[]}]',
      SEAL_KEY: 'short',
      SUBGRAPH_URLS: '{',
      LOG_LEVEL: 'loud',
    };
    const faults = faultsOf(environment);
    const named = Object.keys(faults).map(name => name.split('.')[0]);
    expect(named).toEqual(expect.arrayContaining(Object.keys(environment)));
    expect(JSON.stringify(faults)).not.toMatch(/hidden|short"|0x12/);
  });

  it.each([
    ['nothing', '0'.repeat(64)],
    ['the order of the curve', 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'],
  ])('%s is no private key: the variable is named, whichever of them it is', (_, digits) => {
    expect(faultsOf({ ANCHOR_KEY: digits })).toEqual({ ANCHOR_KEY: expect.stringContaining('secp256k1') });
    expect(Object.keys(faultsOf({ FACILITATOR_KEYS: `0x${KEY},0x${digits}` }))).toEqual(['FACILITATOR_KEYS.1']);
  });

  it.each(['prod', 'Production', 'staging'])('NODE_ENV %s is refused: it would be taken for development', NODE_ENV => {
    expect(faultsOf({ NODE_ENV })).toEqual({ NODE_ENV: 'neither development, production nor test' });
  });

  it.each<[string, Record<string, string>, string, string]>([
    ['misspelt', { CORS_ORIGIN: 'https://a.example' }, 'CORS_ORIGIN', 'is not read. Did you mean CORS_ORIGINS?'],
    ['with letters exchanged', { BASE_RCP_URL: 'http://x' }, 'BASE_RCP_URL', 'is not read. Did you mean BASE_RPC_URL?'],
    ['of ours that there is not', { RATE_PAID: '5/60' }, 'RATE_PAID', 'is not read'],
    [
      'of a router that nobody asks',
      { ROUTER_URL: '', ROUTER_MODELS: 'a' },
      'ROUTER_MODELS',
      'has no effect: ROUTER_URL',
    ],
    ['of Solana without Solana', { SOLANA_RPC_URL: '', PAY_TO_SOLANA: 'x' }, 'PAY_TO_SOLANA', 'has no effect: another'],
    [
      'of a bound on fees of another',
      { FACILITATOR_URL: 'http://x', ETH_USD: '1' },
      'ETH_USD',
      'has no effect with FACILITATOR_URL',
    ],
  ])('a variable %s is told', (_, environment, variable, problem) => {
    expect(variablesWithoutEffect(environment)).toEqual([
      { variable, problem: expect.stringMatching(new RegExp(`^${problem}`)) },
    ]);
  });

  it('other programs’ variables, and those that have an effect, are not told', () => {
    const others = {
      PATH: '/bin',
      HOME: '/',
      HOSTNAME: 'a',
      npm_config_cache: '/c',
      PORTS: '1',
      DATABASE_NAME: 'x',
      TERM: 'y',
    };
    expect(variablesWithoutEffect(others)).toEqual([]);
    expect(readConfig(production).without_effect).toEqual([]);
  });

  it.each([
    [{ vision_models: ['other'] }, 'vision_models'],
    [{ audio_input_models: ['other'] }, 'audio_input_models'],
    [{ file_input_models: ['other'] }, 'file_input_models'],
    [{ forward: [''] }, 'forward.0'],
    [{ reasoning_models: ['other'] }, 'reasoning_models'],
    [{ aliases: { other: ['m'] } }, 'aliases'],
    [{ prices: { other: 1 } }, 'prices'],
    [{ token_prices: { other: { input: 1, output: 1 } } }, 'token_prices'],
  ])('a hub that says something of a model which it does not serve is refused: %j', (said, member) => {
    const HUBS = JSON.stringify([
      { name: 'one', base_url: 'https://hub.example', api_key: 'k', models: ['m'], ...said },
    ]);
    expect(Object.keys(faultsOf({ HUBS }))).toEqual([`HUBS.0.${member}`]);
  });

  it('production without anything names every missing variable at once', () => {
    const { NODE_ENV: _, BASE_URL: __, ...required } = production;
    expect(Object.keys(faultsOf({ NODE_ENV: 'production' })).sort()).toEqual(Object.keys(required).sort());
  });

  it.each(Object.keys(production).filter(name => !['NODE_ENV', 'BASE_URL'].includes(name)))(
    'production without %s names that one',
    name => {
      expect(Object.keys(faultsOf({ ...production, [name]: undefined }))).toEqual([name]);
    },
  );

  it('production with everything has no stand-in, and takes an empty list of keys at its word', () => {
    const config = readConfig(production);
    expect(config).toMatchObject({ profile: 'production', stand_ins: [], base_url: 'https://pay.example' });
    expect(config.api_keys).toEqual(['a-live-key-of-one', 'a-live-key-of-two']);
    expect(config.demo_keys).toEqual([]);
    expect(config.solana_rpc_url).toBeNull();
    expect(config.issuer_keys).toEqual([secret('issuer'), secret('retired')]);
    expect(config.hubs?.[0]?.base_url).toBe('https://hub.example/v1');
  });

  it('FORMER_BASE_URLS are what it called itself before, behind BASE_URL, each once and without a slash', () => {
    expect(readConfig({}).base_urls).toEqual(['http://127.0.0.1:4000']);
    const FORMER_BASE_URLS = 'https://old.example/, https://pay.example,https://older.example/api';
    expect(readConfig({ ...production, FORMER_BASE_URLS }).base_urls).toEqual([
      'https://pay.example',
      'https://old.example',
      'https://older.example/api',
    ]);
    expect(readConfig({ ...production, FORMER_BASE_URLS: '' }).base_urls).toEqual(['https://pay.example']);
    expect(faultsOf({ FORMER_BASE_URLS: 'old.example' })).toHaveProperty('FORMER_BASE_URLS.0');
    const five = [1, 2, 3, 4, 5].map(number => `https://${number}.example`).join();
    expect(faultsOf({ FORMER_BASE_URLS: five })).toEqual({ FORMER_BASE_URLS: 'more than 4 URLs' });
  });

  it('takes an RPC of Nano, and goes without one', () => {
    const NANO_RPC_URL = 'https://nano.example/rpc';
    expect(readConfig({ ...production, NANO_RPC_URL }).nano_rpc_url).toBe(NANO_RPC_URL);
    expect(readConfig(production)).toMatchObject({ nano_rpc_url: null, profile: 'production' });
  });

  it('refuses EVENTS_URL, which nothing reads yet, rather than meet it with the first payment', () => {
    const EVENTS_URL = 'https://events.test';
    expect(faultsOf({ ...production, EVENTS_URL })).toEqual({ EVENTS_URL: 'not supported yet; unset it' });
  });

  it('production needs no settlement keys with a facilitator, which settles with its own', () => {
    const { FACILITATOR_KEYS: _, ...keyless } = production;
    const config = readConfig({ ...keyless, FACILITATOR_URL: 'https://facilitator.example/x402/' });
    expect(config).toMatchObject({
      profile: 'production',
      facilitator_url: 'https://facilitator.example/x402',
      facilitator_keys: null,
    });
  });

  it('takes a map of remote subgraphs, any of the four; production wants https to those on another machine', () => {
    const SUBGRAPH_URLS = JSON.stringify({ book: 'http://127.0.0.1:4002/', receipt: 'https://receipts.example' });
    const config = readConfig({ ...production, SUBGRAPH_URLS });
    expect(config.subgraph_urls).toEqual({ book: 'http://127.0.0.1:4002', receipt: 'https://receipts.example' });
    expect(faultsOf({ ...production, SUBGRAPH_URLS: '{"book":"http://10.0.0.7:4002"}' })).toEqual({
      SUBGRAPH_URLS: expect.stringContaining('https'),
    });
    expect(Object.keys(faultsOf({ SUBGRAPH_URLS: '{"ledger":"http://127.0.0.1:4002"}' }))).toHaveLength(1);
  });

  it.each(['https://us:hidden@books.example', 'https://books.example/?key=hidden', 'https://books.example/#hidden'])(
    'refuses a remote subgraph whose address holds what would be logged and not sent: %s',
    url => {
      const faults = Object.values(faultsOf({ SUBGRAPH_URLS: JSON.stringify({ book: url }) }));
      expect(faults).toEqual([expect.stringContaining('must not contain a user, a query or a fragment')]);
      expect(faults.join()).not.toContain('hidden');
    },
  );

  it('a subgraph alone has a port of its own beside the gateway, and its gateway named', () => {
    expect(readSubgraphConfig('book', {})).toMatchObject({ port: 4002, base_url: 'http://127.0.0.1:4000' });
    const given = { PORT: '4100', BASE_URL: 'https://pay.example/' };
    expect(readSubgraphConfig('book', given)).toMatchObject({ port: 4100, base_url: 'https://pay.example' });
    const { BASE_URL: _, ...nameless } = production;
    expect(() => readSubgraphConfig('book', nameless)).toThrow('BASE_URL');
  });

  it.each(['http://127.0.0.1:4020', 'http://localhost:4020', 'http://[::1]:4020'])(
    'production takes a facilitator on this machine by http: %s',
    FACILITATOR_URL => {
      expect(faultsOf({ ...production, FACILITATOR_URL })).toEqual({});
    },
  );

  it.each(['http://facilitator.example', 'http://127.0.0.1.example', 'http://10.0.0.1'])(
    'production refuses a facilitator elsewhere by http, development does not: %s',
    FACILITATOR_URL => {
      expect(Object.keys(faultsOf({ ...production, FACILITATOR_URL }))).toEqual(['FACILITATOR_URL']);
      expect(faultsOf({ FACILITATOR_URL })).toEqual({});
      expect(Object.keys(faultsOf({ FACILITATOR_URL: 'ftp://facilitator.example' }))).toEqual(['FACILITATOR_URL']);
    },
  );

  it('production refuses a hub elsewhere by http, which would show our key and what is asked; development does not', () => {
    const hubsAt = (...urls: string[]) =>
      JSON.stringify(urls.map((base_url, at) => ({ name: `hub-${at}`, base_url, api_key: 'k', models: ['m'] })));
    const HUBS = hubsAt('https://hub.example/v1', 'http://10.0.0.7/v1');
    expect(Object.keys(faultsOf({ ...production, HUBS }))).toEqual(['HUBS']);
    expect(faultsOf({ HUBS })).toEqual({});
    expect(faultsOf({ ...production, HUBS: hubsAt('http://127.0.0.1:8000/v1', 'https://hub.example/v1') })).toEqual({});
  });

  const feePayer = solanaWallet(sha256('a fee payer of the tests'));
  const solana = {
    SOLANA_RPC_URL: 'https://solana.example/rpc',
    SOLANA_FEE_PAYER_KEY: feePayer.private_key,
    PAY_TO_SOLANA: feePayer.address,
  };
  const asArray = JSON.stringify([...getBase58Encoder().encode(feePayer.private_key)]);

  const spellings = [['base58', feePayer.private_key] as const, ['a JSON array', asArray] as const];
  it.each(spellings)('production takes payments on Solana with a fee payer as %s', (_, SOLANA_FEE_PAYER_KEY) => {
    const config = readConfig({ ...production, ...solana, SOLANA_FEE_PAYER_KEY });
    expect(config).toMatchObject({ profile: 'production', stand_ins: [], without_solana: false });
    expect(config).toMatchObject({
      solana_rpc_url: solana.SOLANA_RPC_URL,
      solana_fee_payer_key: feePayer.private_key,
      pay_to_solana: feePayer.address,
    });
  });

  it.each([
    ['SOLANA_FEE_PAYER_KEY', 'not base58', '0OIl'],
    ['SOLANA_FEE_PAYER_KEY', 'of 32 bytes', feePayer.address],
    ['SOLANA_FEE_PAYER_KEY', 'an array of 63 bytes', asArray.replace(/^\[\d+,/, '[')],
    [
      'SOLANA_FEE_PAYER_KEY',
      "of another's public half",
      asArray.replace(/\d+\]$/, last => `${(parseInt(last, 10) + 1) % 256}]`),
    ],
    ['PAY_TO_SOLANA', 'of Base', '0x2222222222222222222222222222222222222222'],
    ['PAY_TO_SOLANA', 'too short', feePayer.address.slice(0, 30)],
    ['SOLANA_RPC_URL', 'not http', 'wss://solana.example'],
  ])('refuses %s that is %s, and does not show it', (variable, _, value) => {
    const faults = faultsOf({ ...solana, [variable]: value });
    expect(Object.keys(faults)).toEqual([variable]);
    expect(JSON.stringify(faults)).not.toContain(value);
  });

  it.each(['SOLANA_RPC_URL', 'SOLANA_FEE_PAYER_KEY', 'PAY_TO_SOLANA'])(
    '%s set to nothing says that nobody pays on Solana, and then nothing stands in for the others',
    variable => {
      const config = readConfig({ [variable]: '' });
      expect(config.without_solana).toBe(true);
      expect(config.stand_ins.filter(name => name.includes('SOLANA'))).toEqual([]);
      expect(readConfig({}).stand_ins).toEqual(expect.arrayContaining(Object.keys(solana)));
    },
  );

  it('a facilitator pays the fees on Solana too: without a key of ours payments there are taken', () => {
    const { SOLANA_FEE_PAYER_KEY: _, ...keyless } = { ...production, ...solana };
    const FACILITATOR_URL = 'https://facilitator.example';
    expect(readConfig({ ...keyless, FACILITATOR_URL })).toMatchObject({ without_solana: false, stand_ins: [] });
    expect(readConfig({ ...keyless, FACILITATOR_URL, SOLANA_FEE_PAYER_KEY: '' }).without_solana).toBe(false);
  });

  it("lets wallets be made by the factories that are named, by Coinbase's where none are, by nobody on an empty list", () => {
    const [factory, other] = [
      '0x2222222222222222222222222222222222222222',
      '0x3333333333333333333333333333333333333333',
    ];
    expect(readConfig({ WALLET_FACTORIES: `${factory}, ${other}` }).wallet_factories).toEqual([factory, other]);
    expect(readConfig({}).wallet_factories).toEqual([
      '0x0BA5ED0c6AA8c49038F819E587E2633c4A9F428a',
      '0xBA5ED110eFDBa3D005bfC882d75358ACBbB85842',
    ]);
    expect(readConfig({ ...production, WALLET_FACTORIES: '' }).wallet_factories).toEqual([]);
    expect(Object.keys(faultsOf({ WALLET_FACTORIES: `${factory},0x22` }))).toEqual(['WALLET_FACTORIES.1']);
  });

  it('is frozen to its leaves', () => {
    const config = readConfig(production);
    expect(Object.isFrozen(config) && Object.isFrozen(config.hubs?.[0]?.models)).toBe(true);
  });

  it.each([
    ['0.0.0.0', 'http://127.0.0.1:4000'],
    ['::1', 'http://[::1]:4000'],
  ])('on host %s it calls itself %s', (HOST, base_url) => {
    expect(readConfig({ HOST }).base_url).toBe(base_url);
  });
});

describe('completeConfig', () => {
  it('secrets are made once: later starts, and starts at the same moment, get the same', async () => {
    const settings = readConfig({ DATA_DIR: join(await scratch(), 'data') });
    const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => completeConfig(settings)));
    expect(first?.issuer_keys[0]).toMatch(/^[0-9a-f]{64}$/);
    for (const other of [...others, await completeConfig(settings)]) expect(other).toEqual(first);
  });

  it('what is set is kept, and made-up secrets can be read by their owner alone', async () => {
    const data_dir = await scratch();
    const config = await completeConfig(readConfig({ DATA_DIR: data_dir, SEAL_KEY: KEY, API_KEYS: '' }));
    expect(config.seal_key).toBe(KEY);
    expect(config.api_keys).toEqual([]);
    const path = join(data_dir, 'secrets', 'subgraph_secret');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await readFile(path, 'utf8')).trim()).toBe(config.subgraph_secret);
  });
});
