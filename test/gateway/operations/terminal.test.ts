import { describe, expect, it } from 'vitest';
import type { Config } from '../../../gateway/config/read-config.ts';
import { greeting, subgraphGreeting } from '../../../gateway/operations/greeting.ts';
import { readableLines } from '../../../gateway/operations/logger.ts';

/* What a person at a terminal reads. */

describe('the greeting', () => {
  const config = { profile: 'production', stand_ins: [], data_dir: '/data', solana: null } as const;

  it('names every service in whose place a stand-in runs, and a Solana only where one does', () => {
    const stand_ins = ['DATABASE_URL', 'BASE_RPC_URL', 'SOLANA_RPC_URL', 'HUBS', 'ROUTER_URL'] as const;
    const solana = {} as Config['solana'];
    const greetingOf = (given: object) =>
      greeting('http://here', { ...config, profile: 'development', stand_ins, ...given });
    expect(greetingOf({ solana })).toContain('  stand-ins  Postgres, Base, Solana, hubs, router: no real money moves');
    expect(greetingOf({ solana: null })).toContain('  stand-ins  Postgres, Base, hubs, router: no real money moves');
  });

  it('says where it serves, what was made up, what to type next and how to stop', () => {
    const stand_ins = ['HUBS', 'ROUTER_URL', 'ISSUER_KEYS', 'PAY_TO_BASE'] as const;
    expect(greeting('http://here', { ...config, profile: 'development', stand_ins })).toEqual([
      'Spend receipt gateway',
      '  address    http://here',
      '  stand-ins  hubs, router: no real money moves',
      '  generated  2 keys and addresses, kept in /data/secrets',
      '  next       npm run demo      (in a second terminal: a buyer pays, and checks the receipt)',
      '  stop       Ctrl-C: calls in progress are finished first',
      '  open       http://here/v1/chat/completions      (in a browser: what it sells, and how to pay)',
      '',
    ]);
  });

  it('of one subgraph says how its gateway finds it', () => {
    const next = `  next       SUBGRAPH_URLS='{"book":"http://here"}' npm start      (its gateway, at http://there)`;
    expect(subgraphGreeting('book', 'http://here', { base_url: 'http://there' })).toContain(next);
  });

  it('speaks of no demo in production', () => {
    expect(greeting('https://pay.example', config).join('\n')).not.toMatch(/demo|stand-in|made up/);
  });
});

describe('readable lines', () => {
  it('show the time of day, the level, the sentence and its facts', () => {
    const said: string[] = [];
    const line = { level: 30, time: 0, pid: 1, hostname: 'h', msg: 'answered', endpoint: '/v1/models', status: 200 };
    readableLines(text => said.push(text)).write(JSON.stringify(line));
    expect(said.join('')).toMatch(/^\d\d:\d\d:\d\d info {2}answered endpoint=\/v1\/models status=200\n$/);
  });

  it('show what an error was, and facts with blanks as JSON', () => {
    const said: string[] = [];
    const line = { level: 50, time: 0, pid: 1, hostname: 'h', msg: 'it broke', what: 'two words', n: 2 };
    readableLines(text => said.push(text)).write(JSON.stringify({ ...line, err: { stack: 'Error: x\n    at y' } }));
    expect(said.join('')).toMatch(/^\d\d:\d\d:\d\d error it broke what="two words" n=2\nError: x\n {4}at y\n$/);
  });
});
