/** Parsers and generators of documents, run on documents of this repository and of other packages. */
import { filesOf, load } from './inputs.ts'
import { messageOf, type Suite } from './suite.ts'

const documentsHere = () => [
  ...filesOf('{*,docs/**/*,decisions/*}.md'),
  ...filesOf('node_modules/*/README.md'),
]

const marked: Suite = {
  name: 'marked',
  packages: ['marked'],
  small: true,
  async run(out) {
    const { marked: render, lexer } = await load('marked')
    for (const { name, text } of documentsHere()) {
      out(name, render(text, { gfm: true, breaks: name.length % 2 === 0 }))
      out(`${name} tokens`, JSON.stringify(lexer(text)))
    }
  },
}

const markdownIt: Suite = {
  name: 'markdown-it',
  packages: ['markdown-it', 'mdurl', 'uc.micro', 'entities', 'linkify-it', 'punycode.js'],
  small: true,
  async run(out) {
    const { default: MarkdownIt } = await load('markdown-it')
    for (const options of [{}, { html: true, linkify: true, typographer: true }]) {
      const parser = new MarkdownIt(options)
      for (const { name, text } of documentsHere())
        out(`${name} ${JSON.stringify(options)}`, parser.render(text))
    }
  },
}

const json5: Suite = {
  name: 'json5',
  packages: ['json5'],
  small: true,
  async run(out) {
    const { parse, stringify } = (await load('json5')).default
    for (const { name, text } of filesOf('{*,node_modules/*/package}.json')) {
      const value = parse(text)
      out(name, JSON.stringify(value))
      out(`${name} again`, stringify(value, null, name.length % 3))
    }
    out(
      'loose',
      parse("// c\n{a: .5, 'b': [+1, -Infinity, 0xFF,], /* d */ $e: 'f\\\ng\\u0041\\x41', __proto__: 1}"),
    )
    for (const wrong of ['', '{', '[1,,2]', "'\n'", '{a:1 b:2}', 'nul', '"\\u00zz"']) {
      out(
        wrong,
        messageOf(() => parse(wrong)),
      )
    }
  },
}

const yaml: Suite = {
  name: 'js-yaml',
  packages: ['js-yaml'],
  small: true,
  async run(out) {
    const { load: parse, dump } = await load('js-yaml')
    for (const { name, text } of filesOf('{*,node_modules/*/package}.json')) {
      const written = dump(JSON.parse(text), { sortKeys: true, lineWidth: 60 })
      out(name, written)
      out(`${name} again`, JSON.stringify(parse(written)))
    }
    out(
      'anchors',
      parse('a: &x {b: 1, c: [~, yes, 0x1F, 1e3]}\nd: *x\ne: |\n  text\n   more\nf: >-\n  folded\n  line\n'),
    )
    for (const wrong of ['a: [1', 'a: b: c', '\ta: 1', 'a: *missing', '"'])
      out(
        wrong,
        messageOf(() => parse(wrong)),
      )
  },
}

const handlebars: Suite = {
  name: 'handlebars',
  packages: ['handlebars', 'neo-async', 'source-map', 'wordwrap'],
  small: true,
  async run(out) {
    const { default: Handlebars } = await load('handlebars')
    Handlebars.registerHelper('loud', (text: string, { hash }: { hash: { times?: number } }) =>
      text.toUpperCase().repeat(hash.times ?? 1),
    )
    Handlebars.registerPartial(
      'item',
      '<li class="{{@index}}">{{loud name times=2}}{{#each tags}} {{this}}{{/each}}</li>',
    )
    const source =
      '{{!-- a list --}}<ul>{{#each items as |item key|}}{{> item item}}{{#if item.price}}{{item.price}}{{else}}free{{/if}}{{else}}none{{/each}}</ul>{{{raw}}}{{raw}}{{#with owner}}{{../title}} of {{name}}{{/with}}{{lookup map "k"}}'
    const data = {
      items: Array.from({ length: 200 }, (_, i) => ({ name: `n${i}`, price: i % 3, tags: ['a', '<b>', i] })),
      raw: '<&">',
      owner: { name: 'me' },
      title: 'list',
      map: { k: 'v' },
    }
    out('rendered', Handlebars.compile(source)(data))
    out(
      'strict',
      messageOf(() => Handlebars.compile('{{a.b}}', { strict: true })({})),
    )
    out('compiled', Handlebars.precompile(source, { srcName: 'a.hbs' }).code)
    out('parsed', JSON.stringify(Handlebars.parse(source)))
    out(
      'wrong',
      messageOf(() => Handlebars.parse('{{#if a}}{{/each}}')),
    )
  },
}

export const documents: readonly Suite[] = [marked, markdownIt, json5, yaml, handlebars]
