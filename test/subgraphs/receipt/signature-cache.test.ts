import { describe, expect, it } from 'vitest';
import { KeptSignatures } from '../../../subgraphs/receipt/envelope/sign.ts';

describe('what is signed once', () => {
  const now_ms = () => 1_767_323_046_789;
  const counted = () => {
    const kept = new KeptSignatures<{ readonly iat: number; readonly nth: number }>(2);
    let nth = 0;
    return (issuer: { readonly kid: string; now_ms(): number }, name: string) =>
      kept.once(issuer, name, iat => ({ iat, nth: ++nth }));
  };

  it('is said again as it was, with the second in which it was signed', () => {
    const [signed, issuer] = [counted(), { kid: 'one', now_ms }];
    const first = signed(issuer, 'a');
    expect(first).toEqual({ iat: 1_767_323_046, nth: 1 });
    expect(signed(issuer, 'a')).toBe(first);
  });

  it('is signed anew by the key that took the place of another, and by another issuer', () => {
    const [signed, issuer] = [counted(), { kid: 'one', now_ms }];
    signed(issuer, 'a');
    issuer.kid = 'two';
    expect(signed(issuer, 'a').nth).toBe(2);
    expect(signed({ kid: 'two', now_ms }, 'a').nth).toBe(3);
  });

  it('is kept in a bounded number', () => {
    const [signed, issuer] = [counted(), { kid: 'one', now_ms }];
    const first = signed(issuer, 'a');
    for (const name of ['b', 'c']) signed(issuer, name);
    expect(signed(issuer, 'a')).not.toBe(first);
  });
});
