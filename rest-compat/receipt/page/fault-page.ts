import { html } from '../../../schema/html.ts';
import type { FaultPage } from '../../answer-forms.ts';
import { HTML, openingTags, pageHeaders } from './layout.ts';

/** What a browser is shown in place of a receipt or refusal that cannot be shown. */
export function faultPageOf(kind: 'receipt' | 'refusal'): FaultPage {
  const title = kind === 'receipt' ? 'Spend receipt' : 'Refusal';
  return {
    media: HTML,
    headers: pageHeaders(null),
    textOf: ({ code, detail }) => {
      const { headline, advice } = code === 'not_found' ? missing[kind] : { headline: detail, advice: LATER };
      return html`${openingTags(title)}
<body><main><h1>${title}</h1>
<div id="verdict" role="status"><p class="headline">${headline}</p><p class="detail">${advice}</p></div>
</main></body></html>
`.text;
    },
  };
}

const LATER = 'This says nothing of what it would have shown. Ask again later.';

const missing = {
  receipt: {
    headline: 'There is no such receipt',
    advice:
      'See that the address is whole: it ends with task_ and 26 letters and digits. A receipt of what was paid for a moment ago may still be on its way: look again in a minute.',
  },
  refusal: {
    headline: 'There is no such refusal',
    advice: 'See that the address is whole: it ends with refusal_ and 26 letters and digits.',
  },
} as const;
