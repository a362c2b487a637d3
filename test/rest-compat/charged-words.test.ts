import { describe, expect, it } from 'vitest';
import { problem } from '../../rest-compat/problem.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { type ErrorCode, errors, Refusal, withCharged } from '../../schema/errors.ts';

/* What an error says in words of the payment beside `charged`, the fact. */

const codes = Object.keys(errors) as ErrorCode[];
const WORDS = ['', ' Nothing was charged.', ' Nothing was charged; the payment stays usable.'];

function problemOf(refusal: Refusal): JsonObject {
  const { code: _, status: _status, ...facts } = refusal.extensions;
  const { body } = problem({ code: refusal.code, message: refusal.message, facts: facts as JsonObject });
  return JSON.parse(String(body)) as JsonObject;
}

describe.each([true, null])('an error beside charged: %s', charged => {
  it.each(codes)('%s: neither title nor detail says that nothing was charged', code => {
    for (const words of WORDS) {
      const detail = errors[code][1] + words;
      for (const refusal of [
        new Refusal(code, { detail, facts: { charged } }),
        withCharged(new Refusal(code, { detail, facts: { charged: false } }), charged),
      ]) {
        expect(refusal.message).not.toMatch(/nothing was charged/i);
        if (code !== 'internal') expect(JSON.stringify(problemOf(refusal))).not.toMatch(/nothing was charged/i);
      }
    }
  });

  it.each(codes)('%s: its detail says what is known of the payment, once', code => {
    const refusal = withCharged(new Refusal(code, { facts: { charged: false } }), charged);
    expect(
      refusal.message.match(/The payment that came with this request|Whether the payment that came/g),
    ).toHaveLength(1);
    expect(refusal.extensions).toMatchObject({ code, charged });
  });
});

it.each(codes)('%s beside charged: false says what the table says', code => {
  const refusal = new Refusal(code, { facts: { charged: false } });
  expect(refusal.message).toBe(errors[code][1]);
  expect(problemOf(withCharged(refusal, false))).toMatchObject({ title: errors[code][1], detail: errors[code][1] });
});
