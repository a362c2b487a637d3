import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { approvalLimits } from '../../../schema/limits.ts';
import { readNote } from '../../../schema/session/note-header.ts';
import { requestText } from '../../../schema/session/request-text.ts';

const MAX = approvalLimits.request_text_characters_max;

describe('what a person is shown of a call that they may approve', () => {
  it('is its messages in their order, and behind them every other member as JSON', () => {
    const messages: readonly JsonObject[] = [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Buy this:' },
          { type: 'image_url', image_url: { url: 'data:…' } },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [{ id: 'one' }] },
    ];
    expect(requestText({ model: 'svc/auto', messages, max_tokens: 5, seed: null })).toEqual({
      request_text:
        'system: Be brief.\nuser: Buy this:\n[image_url]\nassistant:  {"tool_calls":[{"id":"one"}]}\n\n{"max_tokens":5,"model":"svc/auto"}',
      request_text_characters: 124,
    });
    expect(requestText({ input: 'Hello' }).request_text).toBe('Hello');
    expect(requestText({ prompt: 'A tree', size: '1024x1024' }).request_text).toBe('A tree\n\n{"size":"1024x1024"}');
    expect(requestText({ job_id: 'job_1' }).request_text).toBe('{"job_id":"job_1"}');
  });

  it('is the beginning of it where it is longer, and says how long it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3_000 }), input => {
        const { request_text, request_text_characters } = requestText({ input });
        const shown = [...request_text].length;
        expect(shown).toBe(Math.min(request_text_characters, MAX));
        expect(request_text.isWellFormed()).toBe(true);
        expect(request_text_characters).toBeGreaterThanOrEqual([...input].length);
      }),
    );
  });

  it('is written out no further than it is shown: beyond that it is counted as it was sent', () => {
    const many = '\u200B'.repeat(1_000_000);
    expect(requestText({ input: many })).toEqual({
      request_text: '\\u{200b}'.repeat(MAX / 8),
      request_text_characters: 8 * MAX + many.length - MAX,
    });
    const wide = '\u{1F600}'.repeat(MAX + 1);
    expect(requestText({ input: wide })).toEqual({
      request_text: '\u{1F600}'.repeat(MAX),
      request_text_characters: MAX + 1,
    });
    const hidden = '\u200B'.repeat(MAX / 8 + 1);
    expect(requestText({ input: hidden }).request_text_characters).toBe(MAX + 8);
  });

  it('hides nothing: what is invisible, or turns text around, is written out', () => {
    const hidden = `pay\u202Eesrever\u200B\u{E0041}\u0000 line\nnext`;
    expect(requestText({ input: hidden }).request_text).toBe('pay\\u{202e}esrever\\u{200b}\\u{e0041}\\u{0} line\nnext');
  });
});

describe('X-SVC-Note', () => {
  it('is UTF-8 of 280 characters at most', () => {
    const header = (text: string) => Buffer.from(text).toString('latin1');
    expect(readNote(header(' für die Prüfung '))).toEqual({ kind: 'read', note: 'für die Prüfung' });
    expect(readNote(header('é'.repeat(approvalLimits.note_characters_max)))).toMatchObject({ kind: 'read' });
    expect(readNote(header('é'.repeat(approvalLimits.note_characters_max + 1)))).toEqual({ kind: 'malformed' });
    expect(readNote('\xff')).toEqual({ kind: 'malformed' });
    for (const none of [null, '', ' ']) expect(readNote(none)).toEqual({ kind: 'none' });
  });
});
