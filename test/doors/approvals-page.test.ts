import { beforeAll, expect, it } from 'vitest';
import { type Service, sharedService } from '../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

it('GET /approvals 200, the same for everybody; it runs its own script alone, asks its own service alone, and nobody frames it', async () => {
  const [one, other] = [await service.get('/approvals'), await service.get('/approvals?agent_id=1')];
  expect([one.status, one.text]).toEqual([200, other.text]);
  expect(one.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(one.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src data:; base-uri 'none'; form-action 'none'; connect-src 'self'; frame-ancestors 'none'$/,
  );
  expect([one.headers.get('referrer-policy'), one.headers.get('cache-control')]).toEqual(['no-referrer', 'no-store']);
});

it('GET /approve 200: the same for everybody, and nothing runs on it but its own', async () => {
  const [one, other] = [await service.get('/approve'), await service.get('/approve?x=1')];
  expect([one.status, one.text]).toEqual([200, other.text]);
  expect(one.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(one.headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*; frame-ancestors 'none'$/);
});
