import { describe, expect, it } from 'vitest';
import { ConfigFault } from '../../../gateway/config/fault.ts';
import { readConfig } from '../../../gateway/config/read-config.ts';
import { NoteKey } from '../../harness/log/note.ts';

const [key, other] = ['w1', 'w2'].map(name => new NoteKey(`witness.example/${name}`, 4).verifier_key) as [
  string,
  string,
];
const logs = new NoteKey('log.example').verifier_key;
const at = (...urls: string[]) => JSON.stringify(urls.map(url => ({ url, key })));

/** What is wrong with WITNESSES; null where nothing is. */
function faultOf(WITNESSES: string, NODE_ENV = 'development'): string | null {
  try {
    readConfig({ WITNESSES, NODE_ENV });
  } catch (fault) {
    if (!(fault instanceof ConfigFault)) throw fault;
    return fault.faults.find(({ variable }) => variable.startsWith('WITNESSES'))?.problem ?? null;
  }
  return null;
}

describe('WITNESSES', () => {
  it('is a list of URLs and keys; unset there are none', () => {
    expect(readConfig({ WITNESSES: at('https://witness.example/') }).witnesses).toEqual([
      { url: 'https://witness.example', key },
    ]);
    expect(readConfig({}).witnesses).toBeNull();
  });

  it('production takes a witness elsewhere by https alone, development by http', () => {
    expect(faultOf(at('http://10.0.0.7'), 'production')).toMatch(/^http to another machine is not encrypted/);
    expect(faultOf(at('http://10.0.0.7'))).toBeNull();
    expect(
      faultOf(at('http://127.0.0.1:4100', 'https://witness.example').replace(key, other), 'production'),
    ).toBeNull();
  });

  it.each([
    ['two of one key', at('https://one.example', 'https://two.example'), 'two witnesses have the same key'],
    ['a URL with a user', at('https://user@one.example'), 'must not contain a user, a query or a fragment'],
    ["a log's key", JSON.stringify([{ url: 'https://one.example', key: logs }]), 'not the verifier key of a witness'],
    ['no JSON', 'https://one.example', 'not JSON'],
  ])('is refused for %s', (_what, text, problem) => {
    expect(faultOf(text)).toContain(problem);
  });
});
