import { html } from '../../../schema/html.ts';
import type { FaultPage } from '../../answer-forms.ts';
import { HTML, openingTags, pageHeaders } from './layout.ts';

/** Page in place of a receipt or refusal that cannot be shown. */
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

const LATER = 'This does not mean that the document is invalid. Try again later.';

const missing = {
  receipt: {
    headline: 'There is no such receipt',
    advice:
      'Check that the URL is complete: it ends with task_ and 26 letters and digits. The receipt of a payment made a moment ago may not exist yet: try again in a minute.',
  },
  refusal: {
    headline: 'There is no such refusal',
    advice: 'Check that the URL is complete: it ends with refusal_ and 26 letters and digits.',
  },
} as const;
