import { beforeAll, expect, it } from 'vitest';
import { openService, type Service } from '../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await openService({ NODE_ENV: 'test' });
});

it('GET /approve 200: the same for everybody, and nothing runs on it but its own', async () => {
  const [one, other] = [await service.get('/approve'), await service.get('/approve?x=1')];
  expect([one.status, one.text]).toEqual([200, other.text]);
  expect(one.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(one.headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*; frame-ancestors 'none'$/);
});
