import { Html, html } from '../../../schema/html.ts';
import { openingTags } from '../../receipt/page/layout.ts';
import { oneScript } from '../../receipt/page/one-script.ts';
import { pagePolicy } from '../../receipt/page/policy.ts';
import { STYLE } from '../../receipt/page/style.ts';

const OWN_STYLE = `
[hidden] { display: none !important; } fieldset { border: 0; margin: 0; padding: 0; min-width: 0; } legend { padding: 0; font-weight: 600; }
form, .buttons { display: flex; flex-wrap: wrap; gap: 1rem; align-items: end; margin: 1.5rem 0 0; }
button { font: inherit; font-weight: 600; padding: .6rem 1.4rem; cursor: pointer; color: inherit; background: var(--card); border: .1rem solid var(--line); border-radius: .4rem; }
button, .field { min-height: 2.9rem; }
button[value=approve], button.first { color: var(--paper); background: var(--ink); border-color: var(--ink); } :disabled { cursor: default; } :disabled button { opacity: .5; }
label { display: block; } label input { font: inherit; color: inherit; }
label .field { display: block; margin-top: .25rem; padding: .5rem .6rem; width: 100%; background: var(--paper); border: .1rem solid var(--quiet); border-radius: .4rem; }
.narrow { flex: 0 1 8rem; } .wide { flex: 1 1 18rem; } .choice { margin: 1.5rem 0; } .choice label { margin-top: .5rem; }
article { margin: 1.75rem 0 0; padding: 1.1rem 1.25rem; border: .1rem solid var(--line); border-radius: .6rem; }
article h2 { font-size: 1.6rem; line-height: 1.2; margin: 0; } article dl { border-bottom: 0; padding-bottom: 0; font-size: .92rem; } article p { margin: 1.25rem 0 0; padding-left: .8rem; border-left: .3rem solid var(--quiet); font-weight: 600; overflow-wrap: anywhere; } article code { font-weight: 400; }
dd.said { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; }
article p:empty { display: none; } article form { margin-top: 1.25rem; } #book { margin-top: 1.5rem; } #work > p { margin-top: 1.5rem; font-weight: 600; }
`;

interface ApprovalPageParts {
  readonly title: string;
  /** Of the service at that base URL. */
  readonly body: (base_url: string) => Html;
  /** Of `run/`, each behind those that it imports. */
  readonly script: readonly string[];
}

export interface ApprovalPage {
  readonly headers: Readonly<Record<string, string>>;
  readonly textAt: (base_url: string) => string;
}

/** A page at which people answer calls: the same for everybody, which asks this service alone, and which nobody frames. */
export function approvalPage({ title, body, script: names }: ApprovalPageParts): ApprovalPage {
  const style = STYLE + OWN_STYLE;
  const own = ['bytes', 'dom', 'ask', 'facts', ...names].map(name => `./run/${name}.js`);
  const script = oneScript(['../../receipt/page/texts.js', ...own].map(path => new URL(path, import.meta.url)));
  return {
    headers: {
      'content-security-policy': pagePolicy({ script, style }, "connect-src 'self'", "frame-ancestors 'none'"),
      'referrer-policy': 'no-referrer',
    },
    textAt: base_url =>
      html`${openingTags(title, style)}
<body>${body(base_url)}
<script type="module">${new Html(script)}</script>
</body></html>
`.text,
  };
}
