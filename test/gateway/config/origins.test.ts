import { expect, it } from 'vitest';
import { ConfigFault } from '../../../gateway/config/fault.ts';
import { readConfig } from '../../../gateway/config/read-config.ts';

it('CORS_ORIGINS is everybody unless it is set, and nobody where it is set to nothing', () => {
  expect(readConfig({}).cors_origins).toEqual(['*']);
  expect(readConfig({ CORS_ORIGINS: '' }).cors_origins).toEqual([]);
});

it('CORS_ORIGINS are origins, as browsers spell them', () => {
  const origins = ['https://app.example', 'http://127.0.0.1:3000', 'chrome-extension://abcdef'];
  expect(readConfig({ CORS_ORIGINS: origins.join(', ') }).cors_origins).toEqual(origins);
});

it.each(['app.example', 'https://app.example/', 'https://app.example:443', 'https://APP.example', 'null', 'https://*'])(
  'CORS_ORIGINS refuses %s, which no browser would send',
  origin => {
    expect(() => readConfig({ CORS_ORIGINS: `https://app.example,${origin}` })).toThrow(ConfigFault);
  },
);
