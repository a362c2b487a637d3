import { describe, expect, it } from 'vitest';
import { element } from '../../gateway/verifier-page/run/findings.js';
import { elementOf } from '../../rest-compat/book/approval-pages/run/dom.js';
import { escapeControls } from '../../schema/bidi.js';
import { explorerPage, explorers } from '../../schema/explorers.ts';
import { Html, html, xml } from '../../schema/html.ts';

const CONTROLS = '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069';

describe('text of a stranger in HTML', () => {
  it('is no markup', () => {
    expect(html`<p title="${'"><b>'}">${`<i>&'`}</p>`.text).toBe(
      '<p title="&quot;&gt;&lt;b&gt;">&lt;i&gt;&amp;&#39;</p>',
    );
    expect(html`<p>${new Html('<b>')}${[html`<i>`, html`<u>`]}${null}${undefined}${7}</p>`.text).toBe(
      '<p><b><i><u>7</p>',
    );
  });

  it('shows each control of direction as an escape, wherever it stands', () => {
    const shown = html`<p title="${CONTROLS}">${CONTROLS}</p>`.text;
    for (const control of CONTROLS) {
      expect(shown).not.toContain(control);
      expect(shown.split(`\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)).toHaveLength(3);
    }
  });

  it('that runs from right to left is isolated, where an element may stand', () => {
    expect(html`<p>From ${'אבג'} 12</p>`.text).toBe('<p>From <bdi>אבג</bdi> 12</p>');
    expect(html`<p>${['a'].map(() => html`${'مرحبا'}`)}</p>`.text).toBe('<p><bdi>مرحبا</bdi></p>');
    expect(html`<title>${'אבג'}</title><p title="${'אבג'}">a</p>`.text).toBe('<title>אבג</title><p title="אבג">a</p>');
  });

  it('of any other script stays as it is', () => {
    expect(html`<p>${'Ünïcode, 漢字, emoji 👍🏽, ligatures ﬁ'}</p>`.text).toBe(
      '<p>Ünïcode, 漢字, emoji 👍🏽, ligatures ﬁ</p>',
    );
  });

  it('stays as it is in XML, whose reader shows it', () => {
    expect(xml`<title>${'<\u202eאבג'}</title>`.text).toBe('<title>&lt;\u202eאבג</title>');
  });
});

describe('text of a stranger that a page writes itself', () => {
  it('shows each control of direction as JSON may write it', () => {
    const text = JSON.stringify({ note: `\\${CONTROLS}"` });
    expect(escapeControls(text)).toMatch(/^[ -~]+$/);
    expect(JSON.parse(escapeControls(text))).toEqual(JSON.parse(text));
    expect(escapeControls('plain אבג')).toBe('plain אבג');
  });

  it.each([
    ['the verifier', (text: string) => element('dd', text)],
    ['the page of approvals', (text: string) => elementOf('dd', text)],
  ])('does so on %s', (_, made) => {
    Object.assign(globalThis, { document: { createElement: () => ({ textContent: '' }) } });
    try {
      expect(made('pay \u202e0001').textContent).toBe('pay \\u202e0001');
    } finally {
      Reflect.deleteProperty(globalThis, 'document');
    }
  });
});

describe('where a transaction is looked up', () => {
  const base = `base:0x${'c'.repeat(64)}`;
  const solana = `solana:${'5'.repeat(88)}`;

  it('is the explorer of its network', () => {
    expect(explorerPage(base, 'production')).toEqual({
      name: 'BaseScan',
      url: `https://basescan.org/tx/0x${'c'.repeat(64)}`,
    });
    expect(explorerPage(solana, 'production')).toEqual({
      name: 'Solscan',
      url: `https://solscan.io/tx/${'5'.repeat(88)}`,
    });
    expect(Object.keys(explorers)).toEqual(['base', 'solana']);
  });

  it('is nowhere for a chain that stands in, another network, and what is no id of a transaction', () => {
    expect(explorerPage(base, 'development')).toBeNull();
    const others = [
      null,
      7,
      '',
      'base:',
      'base:0x12',
      `${base}/../x`,
      `${base}:1`,
      `nano:${'A'.repeat(64)}`,
      'constructor:x',
    ];
    for (const other of others) expect(explorerPage(other, 'production'), String(other)).toBeNull();
  });
});
