import fc from 'fast-check';
import { expect, it } from 'vitest';
import { reportOf } from '../../../../subgraphs/receipt/inference/hubs/refusal-report.ts';

const refusal = (error: unknown) => ({ status: 401, headers: {}, body: Buffer.from(JSON.stringify({ error })) });

it('reportOf: code and type where they are plain words, by whatever shape the hub writes its error', () => {
  const words = { code: 'invalid_api_key', type: 'DeploymentNotFound' };
  expect(reportOf('one', refusal(words), [])).toEqual({ hub: 'one', status: 401, ...words });
  expect(reportOf('one', { ...refusal(null), body: null }, [])).toMatchObject({ code: null, type: null });
});

it('reportOf: no other text of a hub passes, and no word that holds a key or a host', () => {
  const secrets = ['Hub.Example', 'secretkey'];
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.jsonValue(), fc.constantFrom('a sentence', 'org-a', 'my_SecretKey', 'x'.repeat(65))),
      said => {
        const { code, type } = reportOf('one', refusal({ code: said, type: said, message: said }), secrets);
        expect(code).toBe(type);
        const plain = typeof said === 'string' && /^[A-Za-z_]{1,64}$/.test(said);
        if (!plain || said.toLowerCase().includes('secretkey')) expect(code).toBeNull();
        else expect([said, null]).toContain(code);
      },
    ),
  );
});
