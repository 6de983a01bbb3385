// The rules of our own demo shop, in memory: the same keywords, priorities, steps and templates, in the same order of choice.
// Left out, in the peer's favour: versions, the reasons for a choice, the guards against floods and other bots, escalation.

const fold = text => text.normalize('NFKC').toLowerCase().replaceAll('ё', 'е').replace(/\s+/gu, ' ').trim().slice(0, 1000)

export function shopkeeper ({ bot, rules: given }) {
  const rules = given
    .map(rule => ({
      ...rule,
      keywords: rule.pattern.keywords.map(fold),
      check: rule.check_pattern && new RegExp(rule.check_pattern, 'u')
    }))
    .sort((a, b) => a.rule_id < b.rule_id ? -1 : 1)
  const anyTime = rules.filter(rule => rule.state === null)
  const steps = Map.groupBy(rules.filter(rule => rule.state !== null), rule => rule.state)

  const render = (template, vars) =>
    template.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, name) => vars[name] ?? bot.variables[name] ?? '')

  // The rule that speaks, and whether it only asks again.
  function choose (session, written) {
    const folded = fold(written)
    const ofState = steps.get(session.state) ?? []
    const passes = rule => !rule.check || rule.check.test(written)
    const taking = ofState.filter(rule => rule.capture && rule.keywords.length === 0)
    const rule = best(ofState, folded) ?? taking.find(passes) ?? best(anyTime, folded)
    return rule ? { rule, isAskedAgain: false } : { rule: taking[0], isAskedAgain: true }
  }

  // Changes the session as the answer does.
  function answer (session, text) {
    const written = text.replace(/\s+/gu, ' ').trim()
    const { rule, isAskedAgain } = choose(session, written)
    if (rule === undefined) return { text: render(bot.fallback_text, {}), buttons: bot.menu }
    if (isAskedAgain) return { text: render(rule.re_ask_template, session.vars), buttons: [] }
    if (rule.state === null && rule.next_state !== null) session.vars = {}
    if (rule.capture) session.vars[rule.capture] = written
    const said = { text: render(rule.response_template, session.vars), buttons: rule.buttons }
    session.state = rule.next_state ?? session.state
    if (session.state === 'default') session.vars = {}
    return said
  }

  return {
    answer,
    greeting: { text: render(bot.greeting_text, {}), buttons: bot.menu },
    unsupported: { text: render(bot.unsupported_text, {}), buttons: [] }
  }
}

// The higher priority wins, then the longer keyword, then the rule id, by which they are sorted.
function best (rules, folded) {
  let found
  let length = 0
  for (const rule of rules) {
    for (const keyword of rule.keywords) {
      if (!folded.includes(keyword)) continue
      if (found && (rule.priority < found.priority || (rule.priority === found.priority && keyword.length <= length))) continue
      found = rule
      length = keyword.length
    }
  }
  return found
}
