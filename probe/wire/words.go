package wire

import "strings"

// stem makes the words of different endpoints comparable: small letters and digits alone, without what says that it is an
// error. "insufficient_balance_error" and "InsufficientBalance" are one word.
func stem(word string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	}, word)
	for _, end := range []string{"error", "exception"} {
		if rest := strings.TrimSuffix(plain, end); rest != "" {
			plain = rest
		}
	}
	return plain
}

// maxWord is the length up to which a text may be a word of a table.
const maxWord = 80

// classOf is the table of the words that endpoints use as error code, type or reason. Of a dotted word the whole counts,
// then its first part: Throttling.RateQuota.
func classOf(word string) Class {
	if len(word) > maxWord {
		return ClassUndefined
	}
	if c := classOfStem(stem(word)); c != ClassUndefined {
		return c
	}
	if head, _, dotted := strings.Cut(word, "."); dotted {
		return classOfStem(stem(head))
	}
	return ClassUndefined
}

func classOfStem(word string) Class {
	switch word {
	case "insufficientquota", "billing", "billinghardlimitreached", "billingnotactive", "billingdisabled", "insufficientuserquota",
		"insufficientbalance", "insufficientcredit", "insufficientcredits", "insufficientfunds", "quotaexceeded", "credits", "creditlimitexceeded",
		"creditlimitreached", "creditbalancetoolow", "outofcredits", "nocredits", "arrearage", "accountoverdue", "accountarrears",
		"overdue", "prepaidbilloverdue", "postpaidbilloverdue", "exceededcurrentquota", "budgetexceeded", "exceededbudget",
		"spendinglimit", "spendinglimitreached", "spendlimitreached", "paymentrequired", "allocationquotafreetieronly",
		"freetieronly", "quotanotenough", "preconsumetokenquotafailed", "resourcepackexhausted", "failedoperationresourcepackexhausted",
		"servicequotaexceeded", "usagelimitreached", "monthlylimitreached", "plansubscriptionrequired",
		"1008", "1113", "30001", "30011": // MiniMax, Zhipu, SiliconFlow
		return ClassQuota
	case "ratelimitexceeded", "ratelimit", "ratelimited", "ratelimitreached", "toomanyrequests", "resourceexhausted", "requests",
		"tokens", "throttling", "throttled", "limitrequests", "limitexceeded", "requestlimitexceeded", "concurrencylimitexceeded",
		"1302", "1303", "1039": // Zhipu, MiniMax
		return ClassLimited
	case "overloaded", "overload", "serveroverloaded", "engineoverloaded", "modeloverloaded", "unavailable", "serviceunavailable",
		"serverisoverloaded", "slowdown", "overcapacity", "capacityexceeded", "nocapacity", "modelnotready", "serverbusy", "1305": // Zhipu
		return ClassOverload
	case "contentfilter", "contentfiltered", "contentpolicyviolation", "responsibleaipolicyviolation", "datainspectionfailed",
		"sensitivecontentdetected", "inputtextsensitivecontentdetected", "outputtextsensitivecontentdetected",
		"1026", "1027", "1301": // MiniMax, Zhipu
		return ClassFilter
	case "authentication", "authfailure", "apikeyinvalid", "invalidapikey", "incorrectapikey", "apikeyexpired", "invalidauthentication",
		"permission", "permissiondenied", "unauthenticated", "unauthorized", "accessdenied", "forbidden", "invalidtoken", "tokenexpired",
		"expiredtoken", "accessterminated", "accountdeactivated", "apikeyserviceblocked", "servicedisabled", "unrecognizedclient",
		"2049": // MiniMax
		return ClassAuth
	case "notfound", "modelnotfound", "deploymentnotfound", "resourcenotfound", "modelnotopen", "invalidmodel", "modelnotexist",
		"unknownmodel", "nosuchmodel":
		return ClassNotFound
	case "badrequest", "invalidargument", "contextlengthexceeded", "exceedcontextsize", "unsupportedparameter", "unsupportedvalue",
		"invalidrequest", "validation", "invalidparameter":
		return ClassBad
	case "api", "server", "internal", "internalserver", "timeout", "1024":
		return ClassServer
	}
	return ClassUndefined
}

// Ending says what a finish reason means.
type Ending uint8

// The endings. EndUnknown is a word that is in no table.
const (
	EndUnknown Ending = iota
	EndComplete
	EndLength
	EndFiltered
	EndRefused
	EndFailed
	EndOverloaded
)

// EndingOf says what reason means in this protocol. Gateways pass on the words of whatever stands behind them, so that what
// the protocol's own table does not know is looked for in those of all.
func (pr *Protocol) EndingOf(reason string) Ending {
	word := stem(reason)
	if len(reason) > maxWord {
		return EndUnknown
	}
	for _, table := range append([]endings{pr.Endings}, foreignEndings()...) {
		for e, words := range table {
			for _, w := range words {
				if w == word {
					return e
				}
			}
		}
	}
	return EndUnknown
}

// endings lists the stems of finish reasons by what they mean.
type endings map[Ending][]string

// chatEndings are those of OpenAI chat and of the engines that speak it: vLLM, SGLang, TGI, llama.cpp, Mistral, DeepSeek, Zhipu.
func chatEndings() endings {
	return endings{
		EndComplete:   {"stop", "toolcalls", "functioncall", "eos", "eostoken", "stopsequence", "modellength", "end", "stoptoken"},
		EndLength:     {"length", "maxtokens", "modelcontextwindowexceeded"},
		EndFiltered:   {"contentfilter", "sensitive"},
		EndFailed:     {"error", "abort", "aborted", "cancel", "cancelled", "canceled", "network", "timeout"},
		EndOverloaded: {"insufficientsystemresource"},
	}
}

// anthropicEndings are those of Anthropic, and of Bedrock in front of it.
func anthropicEndings() endings {
	return endings{
		EndComplete: {"endturn", "stopsequence", "tooluse", "pauseturn"},
		EndLength:   {"maxtokens", "modelcontextwindowexceeded"},
		EndFiltered: {"guardrailintervened", "contentfiltered"},
		EndRefused:  {"refusal"},
		EndFailed:   {"malformedmodeloutput", "malformedtooluse"},
	}
}

func geminiEndings() endings {
	return endings{
		EndComplete: {"stop"},
		EndLength:   {"maxtokens"},
		EndFiltered: {"safety", "recitation", "language", "blocklist", "prohibitedcontent", "spii", "imagesafety", "imageprohibitedcontent", "imagerecitation", "modelarmor"},
		EndFailed: {"other", "malformedfunctioncall", "unexpectedtoolcall", "toomanytoolcalls", "missingthoughtsignature",
			"malformedresponse", "imageother", "noimage"},
	}
}

func responsesEndings() endings {
	return endings{
		EndComplete: {"completed"},
		EndLength:   {"maxoutputtokens", "incomplete"},
		EndFiltered: {"contentfilter"},
		EndFailed:   {"failed", "cancelled"},
	}
}

// ollamaEndings hold load and unload, which come without an answer.
func ollamaEndings() endings {
	return endings{EndComplete: {"stop", "load", "unload"}, EndLength: {"length"}}
}

// foreignEndings are the tables that are asked after a protocol's own.
func foreignEndings() []endings {
	return []endings{chatEndings(), anthropicEndings(), geminiEndings(), responsesEndings(), {
		// Cohere, watsonx, LM Studio
		EndComplete: {"complete", "toolcall", "eosfound", "stopstringfound", "done", "finished"},
		EndLength:   {"errorlimit", "tokenlimit", "maxpredictedtokensreached", "contextlengthreached", "maxlength"},
		EndFiltered: {"errortoxic"},
		EndFailed:   {"usercancel", "timelimit", "userstopped", "modelunloaded", "interrupted"},
	}}
}
